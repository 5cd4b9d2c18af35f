// SPDX-License-Identifier: Apache-2.0
#include "converter/reference/float_heads.hpp"

#include <algorithm>

#include "converter/reference/float_ops.hpp"
#include "converter/reference/forward_output.hpp"

namespace embert::convert {
namespace {

using Point = ActivationPoint;

void append(std::vector<float>& out, const float* values, std::size_t count) {
  out.insert(out.end(), values, values + count);
}

}  // namespace

FloatHeads::FloatHeads(const ModelConfig& config, const ModelWeights& weights)
    : config_(config.last()) {
  if (weights.pooler) pooler_.emplace(*weights.pooler);
  if (weights.classifier) classifier_.emplace(*weights.classifier);
  if (weights.token_classifier) token_classifier_.emplace(*weights.token_classifier);
  if (!weights.language_head) return;
  const LanguageHead& head = *weights.language_head;
  if (head.transform) transform_.emplace(*head.transform);
  transform_norm_ = head.norm;
  output_embeddings_.emplace(
      head.output_embeddings ? *head.output_embeddings : weights.stacks.back().word_embeddings,
      head.bias);
}

void FloatHeads::run(const BatchChunk& chunk, const float* hidden, const ForwardOptions& options,
                     const Viewer& viewer, pthreadpool_t pool, ForwardOutput& out) {
  const int layer = config_.num_hidden_layers;
  if (pooler_) run_pooled(chunk, hidden, viewer, pool, out);
  if (token_classifier_) {
    const std::size_t labels = token_classifier_->outputs();
    float* const scores = scores_.sized(chunk.rows * labels);
    token_classifier_->run(hidden, chunk.rows, scores, pool);
    viewer.show(Point::kTokenLogits, layer, scores, chunk.rows, labels);
    append(out.token_logits, scores, chunk.rows * labels);
  }
  std::vector<std::size_t> rows;
  for (const std::int32_t asked : options.lm_rows) {
    const auto row = static_cast<std::size_t>(asked);
    if (row >= chunk.first_row && row < chunk.first_row + chunk.rows) {
      rows.push_back(row - chunk.first_row);
    }
  }
  if (!rows.empty()) run_language(rows, hidden, viewer, pool, out);
}

void FloatHeads::run_pooled(const BatchChunk& chunk, const float* hidden, const Viewer& viewer,
                            pthreadpool_t pool, ForwardOutput& out) {
  const int layer = config_.num_hidden_layers;
  const std::size_t texts = chunk.lengths.size();
  const auto width = static_cast<std::size_t>(config_.hidden_size);
  float* const firsts = first_.sized(texts * width);
  float* const pooled = pooled_.sized(texts * width);
  std::size_t row = 0;
  for (std::size_t text = 0; text < texts; ++text) {
    std::copy_n(hidden + row * width, width, firsts + text * width);
    row += static_cast<std::size_t>(chunk.lengths[text]);
  }
  pooler_->run(firsts, texts, pooled, pool);
  apply_activation(pool, HiddenAct::kTanh, pooled, texts * width);
  viewer.show(Point::kPooled, layer, pooled, texts, width);
  append(out.pooled, pooled, texts * width);
  if (!classifier_) return;
  const std::size_t labels = classifier_->outputs();
  float* const scores = scores_.sized(texts * labels);
  classifier_->run(pooled, texts, scores, pool);
  viewer.show(Point::kLogits, layer, scores, texts, labels);
  append(out.logits, scores, texts * labels);
}

void FloatHeads::run_language(const std::vector<std::size_t>& rows, const float* hidden,
                              const Viewer& viewer, pthreadpool_t pool, ForwardOutput& out) {
  const int layer = config_.num_hidden_layers;
  const std::size_t count = rows.size();
  const auto width = static_cast<std::size_t>(config_.hidden_size);
  float* input = picked_.sized(count * width);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(hidden + rows[i] * width, width, input + i * width);
  }
  viewer.show(Point::kLmInput, layer, input, count, width);
  if (transform_) {
    float* const normed = normed_.sized(count * width);
    transform_->run(input, count, normed, pool);
    viewer.show(Point::kLmTransform, layer, normed, count, width);
    apply_activation(pool, config_.hidden_act, normed, count * width);
    viewer.show(Point::kLmActivated, layer, normed, count, width);
    layer_norm_rows(pool, normed, transform_norm_, config_.layer_norm_eps, count, normed);
    viewer.show(Point::kLmNormed, layer, normed, count, width);
    input = normed;
  }
  const std::size_t vocab = output_embeddings_->outputs();
  float* const scores = scores_.sized(count * vocab);
  output_embeddings_->run(input, count, scores, pool);
  viewer.show(Point::kLmLogits, layer, scores, count, vocab);
  append(out.lm_logits, scores, count * vocab);
}

}  // namespace embert::convert
