// SPDX-License-Identifier: Apache-2.0
// Runs the stacks and the task heads, chunk by chunk.
#include "converter/reference/float_model.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "converter/convert_error.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/reference/float_stack.hpp"
#include "converter/reference/float_task_heads.hpp"
#include "converter/reference/linear/float_linear.hpp"
#include "converter/workers.hpp"

namespace embert::convert {

struct FloatModel::Impl {
  Impl(const ModelConfig& config, const ModelWeights& weights, int threads, FloatProducts products)
      : pool(make_thread_pool(threads)), heads(config, weights, products) {
    for (std::size_t s = 0; s < config.stacks.size(); ++s) {
      stacks.emplace_back(config.stacks[s], weights.stacks[s], static_cast<int>(s), products);
    }
    if (weights.projection) projection.emplace(*weights.projection, products);
  }

  void check_lm_rows(const TokenBatch& batch, const ForwardOptions& options) const;
  Output run_last(const TokenBatch& batch, const Observer* observer, const ForwardOptions& options);
  Output run_encoder(const TokenBatch& batch, const Observer* observer,
                     const ForwardOptions& options, std::vector<float>& states);

  ThreadPool pool;
  std::vector<FloatStack> stacks;
  std::optional<FloatLinear> projection;
  FloatTaskHeads heads;
  FloatBuffer projected;  // [rows, cross_hidden_size of the decoder]
};

void FloatModel::Impl::check_lm_rows(const TokenBatch& batch, const ForwardOptions& options) const {
  if (options.lm_rows.empty()) return;
  if (!heads.has_language_head()) throw ConvertError("the model has no language head");
  std::int64_t least = 0;
  std::int64_t tokens = 0;
  for (const std::int32_t length : batch.lengths) tokens += length;
  for (const std::int32_t row : options.lm_rows) {
    if (row < least || row >= tokens) {
      throw ConvertError("row " + std::to_string(row) +
                         " of the language head is not in rising order within the " +
                         std::to_string(tokens) + " tokens of the batch");
    }
    least = row + std::int64_t{1};
  }
}

// The last stack with the task heads.
ForwardOutput FloatModel::Impl::run_last(const TokenBatch& batch, const Observer* observer,
                                         const ForwardOptions& options) {
  FloatStack& stack = stacks.back();
  check_batch(batch, stack.config());
  check_lm_rows(batch, options);
  Output out;
  for (const BatchChunk& chunk : chunks_of(batch, stack.config())) {
    const float* hidden = stack.run({chunk, options, observer, pool.get(), out});
    const Viewer viewer{observer, static_cast<int>(stacks.size()) - 1, chunk.lengths};
    heads.run({chunk, hidden, viewer, pool.get(), out}, options.lm_rows);
  }
  return out;
}

// The first stack of two. Appends to `states` the rows that cross-attention reads.
ForwardOutput FloatModel::Impl::run_encoder(const TokenBatch& batch, const Observer* observer,
                                            const ForwardOptions& options,
                                            std::vector<float>& states) {
  FloatStack& stack = stacks.front();
  check_batch(batch, stack.config());
  Output out;
  for (const BatchChunk& chunk : chunks_of(batch, stack.config())) {
    const float* rows = stack.run({chunk, options, observer, pool.get(), out});
    const std::size_t width = static_cast<std::size_t>(stacks.back().config().cross_hidden_size);
    if (projection) {
      float* const wide = projected.sized(chunk.rows * width);
      projection->run(rows, chunk.rows, wide, pool.get());
      const Viewer viewer{observer, 0, chunk.lengths};
      viewer.show(ActivationPoint::kProjected, stack.config().num_hidden_layers, wide, chunk.rows,
                  width);
      rows = wide;
    }
    states.insert(states.end(), rows, rows + chunk.rows * width);
  }
  return out;
}

FloatModel::FloatModel(const ModelConfig& config, const ModelWeights& weights, int threads,
                       FloatProducts products)
    : impl_(std::make_unique<Impl>(config, weights, threads, products)) {}
FloatModel::~FloatModel() = default;
FloatModel::FloatModel(FloatModel&&) noexcept = default;
FloatModel& FloatModel::operator=(FloatModel&&) noexcept = default;

ForwardOutput FloatModel::forward(const TokenBatch& batch, const Observer* observer,
                                  const ForwardOptions& options) {
  if (impl_->stacks.size() != 1) {
    throw ConvertError("a model of encoder and decoder takes a source and a target");
  }
  return impl_->run_last(batch, observer, options);
}

FloatModel::PairOutput FloatModel::forward_pair(const TokenBatch& source, const TokenBatch& target,
                                                const Observer* observer,
                                                const ForwardOptions& options) {
  if (impl_->stacks.size() != 2) throw ConvertError("a model of one stack takes texts alone");
  if (!target.encoder_states.empty()) {
    throw ConvertError("a target brings no encoder states; they come from the source");
  }
  PairOutput out;
  TokenBatch decoded = target;
  out.encoder = impl_->run_encoder(source, observer, options, decoded.encoder_states);
  decoded.source_lengths = source.lengths;
  decoded.source_key_mask = source.key_mask;
  out.decoder = impl_->run_last(decoded, observer, options);
  return out;
}

ForwardOutput FloatModel::forward_batch(const ModelBatch& batch, const Observer* observer,
                                        const ForwardOptions& options) {
  if (batch.sources.lengths.empty()) return forward(batch.texts, observer, options);
  return forward_pair(batch.sources, batch.texts, observer, options).decoder;
}

}  // namespace embert::convert
