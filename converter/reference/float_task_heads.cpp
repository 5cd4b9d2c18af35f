// SPDX-License-Identifier: Apache-2.0
#include "converter/reference/float_task_heads.hpp"

#include <algorithm>
#include <span>

#include "converter/reference/float_ops.hpp"

namespace embert::convert {
namespace {

void append_values(std::vector<float>& out, const float* values, std::size_t count) {
  out.insert(out.end(), values, values + count);
}

// The mean of the visible rows, of all where none is visible (no mask: all are).
void mean_of_rows(const float* rows, std::size_t count, std::size_t width,
                  std::span<const std::uint8_t> visible, float* mean) {
  const bool all = visible.empty() || std::ranges::count(visible, 0) == std::ssize(visible);
  std::vector<double> sums(width);
  double used = 0;
  for (std::size_t r = 0; r < count; ++r) {
    if (!all && visible[r] == 0) continue;
    for (std::size_t c = 0; c < width; ++c) sums[c] += static_cast<double>(rows[r * width + c]);
    ++used;
  }
  for (std::size_t c = 0; c < width; ++c) mean[c] = static_cast<float>(sums[c] / used);
}

}  // namespace

FloatTaskHeads::FloatTaskHeads(const ModelConfig& config, const ModelWeights& weights,
                               FloatProducts products)
    : config_(config.last()),
      pooled_config_(config.pooled),
      token_act_(config.token_act.value_or(config_.hidden_act)),
      language_act_(config.language_act.value_or(config_.hidden_act)) {
  if (weights.pooler) {
    pooler_.emplace(weights.pooler->dense, products);
    pooler_norm_ = weights.pooler->norm;
  }
  if (weights.classifier) classifier_.emplace(*weights.classifier, products);
  if (weights.token_transform) {
    token_transform_.emplace(weights.token_transform->dense, products);
    token_norm_ = weights.token_transform->norm;
  }
  if (weights.token_classifier) token_classifier_.emplace(*weights.token_classifier, products);
  if (!weights.language_head) return;
  const LanguageHead& head = *weights.language_head;
  if (head.transform) transform_.emplace(*head.transform, products);
  transform_norm_ = head.norm;
  output_embeddings_.emplace(
      head.output_embeddings ? *head.output_embeddings : weights.stacks.back().word_embeddings,
      head.bias, products);
}

void FloatTaskHeads::run(const Run& run, const std::vector<std::int32_t>& lm_rows) {
  if (pooler_ || !pooled_config_.dense) run_pooled(run);
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

void FloatTaskHeads::gather_pooler_input(const Run& run) {
  const std::size_t texts = run.chunk.lengths.size();
  const auto width = static_cast<std::size_t>(config_.hidden_size);
  float* const rows = first_.sized(texts * width);
  std::size_t row = 0;
  for (std::size_t text = 0; text < texts; ++text) {
    const auto length = static_cast<std::size_t>(run.chunk.lengths[text]);
    const float* const hidden = run.hidden + row * width;
    if (pooled_config_.mean) {
      std::span<const std::uint8_t> visible;
      if (run.chunk.key_mask != nullptr) visible = {run.chunk.key_mask + row, length};
      mean_of_rows(hidden, length, width, visible, rows + text * width);
    } else {
      std::copy_n(hidden, width, rows + text * width);
    }
    row += length;
  }
}

void FloatTaskHeads::run_pooled(const Run& run) {
  const int layer = config_.num_hidden_layers;
  const std::size_t texts = run.chunk.lengths.size();
  const auto width = static_cast<std::size_t>(config_.hidden_size);
  gather_pooler_input(run);
  float* const input = first_.sized(texts * width);
  float* const pooled = pooled_.sized(texts * width);
  run.viewer.show(ActivationPoint::kPoolerInput, layer, input, texts, width);
  if (pooler_) {
    pooler_->run(input, texts, pooled, run.pool);
    run.viewer.show(ActivationPoint::kPoolerSum, layer, pooled, texts, width);
    apply_activation(run.pool, pooled_config_.act, pooled, texts * width);
  } else {
    std::copy_n(input, texts * width, pooled);
  }
  if (pooler_norm_) {
    layer_norm_rows(run.pool, {.in = pooled,
                               .rows = texts,
                               .norm = *pooler_norm_,
                               .eps = config_.layer_norm_eps,
                               .out = pooled});
  }
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
  const int layer = config_.num_hidden_layers;
  const std::size_t rows = run.chunk.rows, labels = token_classifier_->outputs();
  const auto width = static_cast<std::size_t>(config_.hidden_size);
  const float* input = run.hidden;
  if (token_transform_) {
    float* const made = tokens_.sized(rows * width);
    token_transform_->run(run.hidden, rows, made, run.pool);
    run.viewer.show(ActivationPoint::kTokenSum, layer, made, rows, width);
    apply_activation(run.pool, token_act_, made, rows * width);
    if (token_norm_) {
      layer_norm_rows(run.pool, {.in = made,
                                 .rows = rows,
                                 .norm = *token_norm_,
                                 .eps = config_.layer_norm_eps,
                                 .out = made});
    }
    input = made;
  }
  run.viewer.show(ActivationPoint::kTokenInput, layer, input, rows, width);
  float* const scores = scores_.sized(rows * labels);
  token_classifier_->run(input, rows, scores, run.pool);
  run.viewer.show(ActivationPoint::kTokenLogits, layer, scores, rows, labels);
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
    const std::size_t size = transform_->outputs();
    float* const normed = normed_.sized(count * size);
    transform_->run(input, count, normed, run.pool);
    run.viewer.show(ActivationPoint::kLmTransform, layer, normed, count, size);
    apply_activation(run.pool, language_act_, normed, count * size);
    run.viewer.show(ActivationPoint::kLmActivated, layer, normed, count, size);
    layer_norm_rows(run.pool, {.in = normed,
                               .rows = count,
                               .norm = transform_norm_,
                               .eps = config_.layer_norm_eps,
                               .out = normed});
    run.viewer.show(ActivationPoint::kLmNormed, layer, normed, count, size);
    input = normed;
  }
  const std::size_t vocab = output_embeddings_->outputs();
  float* const scores = scores_.sized(count * vocab);
  output_embeddings_->run(input, count, scores, run.pool);
  run.viewer.show(ActivationPoint::kLmLogits, layer, scores, count, vocab);
  append_values(run.out.lm_logits, scores, count * vocab);
}

}  // namespace embert::convert
