// SPDX-License-Identifier: Apache-2.0
#include "converter/reference/float_task_heads.hpp"

#include <algorithm>

#include "converter/reference/float_ops.hpp"

namespace embert::convert {
namespace {

void append_values(std::vector<float>& out, const float* values, std::size_t count) {
  out.insert(out.end(), values, values + count);
}

}  // namespace

FloatTaskHeads::FloatTaskHeads(const ModelConfig& config, const ModelWeights& weights)
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

void FloatTaskHeads::run(const Run& run, const std::vector<std::int32_t>& lm_rows) {
  if (pooler_) run_pooled(run);
  if (token_classifier_) run_tokens(run);
  const BatchChunk& chunk = run.chunk;
  std::vector<std::size_t> rows;
  for (const std::int32_t asked : lm_rows) {
    const auto row = static_cast<std::size_t>(asked);
    if (row >= chunk.first_row && row < chunk.first_row + chunk.rows) {
      rows.push_back(row - chunk.first_row);
    }
  }
  if (!rows.empty()) run_language(run, rows);
}

void FloatTaskHeads::run_pooled(const Run& run) {
  const int layer = config_.num_hidden_layers;
  const std::size_t texts = run.chunk.lengths.size();
  const auto width = static_cast<std::size_t>(config_.hidden_size);
  float* const firsts = first_.sized(texts * width);
  float* const pooled = pooled_.sized(texts * width);
  std::size_t row = 0;
  for (std::size_t text = 0; text < texts; ++text) {
    std::copy_n(run.hidden + row * width, width, firsts + text * width);
    row += static_cast<std::size_t>(run.chunk.lengths[text]);
  }
  pooler_->run(firsts, texts, pooled, run.pool);
  apply_activation(run.pool, HiddenAct::kTanh, pooled, texts * width);
  run.viewer.show(ActivationPoint::kPooled, layer, pooled, texts, width);
  append_values(run.out.pooled, pooled, texts * width);
  if (!classifier_) return;
  const std::size_t labels = classifier_->outputs();
  float* const scores = scores_.sized(texts * labels);
  classifier_->run(pooled, texts, scores, run.pool);
  run.viewer.show(ActivationPoint::kLogits, layer, scores, texts, labels);
  append_values(run.out.logits, scores, texts * labels);
}

void FloatTaskHeads::run_tokens(const Run& run) {
  const std::size_t rows = run.chunk.rows, labels = token_classifier_->outputs();
  float* const scores = scores_.sized(rows * labels);
  token_classifier_->run(run.hidden, rows, scores, run.pool);
  run.viewer.show(ActivationPoint::kTokenLogits, config_.num_hidden_layers, scores, rows, labels);
  append_values(run.out.token_logits, scores, rows * labels);
}

void FloatTaskHeads::run_language(const Run& run, const std::vector<std::size_t>& rows) {
  const int layer = config_.num_hidden_layers;
  const std::size_t count = rows.size();
  const auto width = static_cast<std::size_t>(config_.hidden_size);
  float* input = picked_.sized(count * width);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(run.hidden + rows[i] * width, width, input + i * width);
  }
  run.viewer.show(ActivationPoint::kLmInput, layer, input, count, width);
  if (transform_) {
    float* const normed = normed_.sized(count * width);
    transform_->run(input, count, normed, run.pool);
    run.viewer.show(ActivationPoint::kLmTransform, layer, normed, count, width);
    apply_activation(run.pool, config_.hidden_act, normed, count * width);
    run.viewer.show(ActivationPoint::kLmActivated, layer, normed, count, width);
    layer_norm_rows(run.pool, {.in = normed,
                               .rows = count,
                               .norm = transform_norm_,
                               .eps = config_.layer_norm_eps,
                               .out = normed});
    run.viewer.show(ActivationPoint::kLmNormed, layer, normed, count, width);
    input = normed;
  }
  const std::size_t vocab = output_embeddings_->outputs();
  float* const scores = scores_.sized(count * vocab);
  output_embeddings_->run(input, count, scores, run.pool);
  run.viewer.show(ActivationPoint::kLmLogits, layer, scores, count, vocab);
  append_values(run.out.lm_logits, scores, count * vocab);
}

}  // namespace embert::convert
