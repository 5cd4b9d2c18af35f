// SPDX-License-Identifier: Apache-2.0
// One stack of the float model: embeddings, layers, last LayerNorm, chunk by chunk.
#pragma once

#include <pthreadpool.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/reference/batch_chunk.hpp"
#include "converter/reference/forward_output.hpp"
#include "converter/reference/observer.hpp"
#include "converter/reference/xnn_linear.hpp"

namespace embert::convert {

class FloatStack {
 public:
  /// Copies what it needs of both. `number` is the stack's in ModelConfig::stacks.
  FloatStack(const StackConfig& config, const StackWeights& weights, int number);

  const StackConfig& config() const { return config_; }

  /// The last hidden state [rows, H] of a chunk, with kInputPadding floats behind it; it stays
  /// until the next call. Appends it, and the hidden states and attentions that `options` asks for,
  /// to `out`.
  const float* run(const BatchChunk& chunk, const ForwardOptions& options, const Observer* observer,
                   pthreadpool_t pool, ForwardOutput& out);

 private:
  struct Attention {
    explicit Attention(const AttentionWeights& weights);
    XnnLinear query, key, value, out;
    Matrix distances;
  };
  struct Layer {
    explicit Layer(const LayerWeights& weights);
    std::optional<LayerNorm> input_norm;
    Attention attention;
    LayerNorm cross_norm;
    std::optional<Attention> cross;
    LayerNorm ffn_norm;
    XnnLinear ffn_up, ffn_down;
  };
  // What one call of run() passes on.
  struct Pass {
    const BatchChunk& chunk;
    const ForwardOptions& options;
    Viewer viewer, source_viewer;  // of the texts, of their sources
    pthreadpool_t pool;
    ForwardOutput& out;
    int layer;
    std::size_t heads_before;  // of the layers below
  };

  void embed(const BatchChunk& chunk, float* sums) const;
  void normalize(const Pass& pass, const LayerNorm* norm);
  void add_residual(const Pass& pass);
  // Self-attention, or cross-attention to `states` [source rows, cross_hidden_size].
  void attend_block(const Pass& pass, Attention& weights, const float* states);
  void feed_forward(const Pass& pass, Layer& layer);
  void keep_hidden_state(const Pass& pass) const;

  StackConfig config_;
  int number_;
  Matrix word_, position_, token_type_;
  std::vector<Layer> layers_;
  LayerNorm output_norm_;

  FloatBuffer buffers_[3];
  float* sum_ = nullptr;         // [rows, H] residual sum
  float* input_ = nullptr;       // [rows, H] LayerNorm of it, input of a block
  float* block_ = nullptr;       // [rows, H] what a block adds
  FloatBuffer query_, context_;  // [rows, A]
  FloatBuffer key_, value_;      // [rows or source rows, A]
  FloatBuffer inner_;            // [rows, I]
  FloatBuffer states_;           // [source rows, cross_hidden_size]
};

}  // namespace embert::convert
