// SPDX-License-Identifier: Apache-2.0
// One stack of the float model: embeddings, layers and the final LayerNorm, chunk by chunk.
#pragma once

#include <pthreadpool.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/reference/batch_chunk.hpp"
#include "converter/reference/forward_output.hpp"
#include "converter/reference/linear/float_linear.hpp"
#include "converter/reference/observer.hpp"

namespace embert::convert {

class FloatStack {
 public:
  /// Copies the parts of both that it needs. `number` is the index into ModelConfig::stacks.
  FloatStack(const StackConfig& config, const StackWeights& weights, int number,
             FloatProducts products);

  const StackConfig& config() const { return config_; }

  /// Shared by all layers of one run; nothing in it changes while they run.
  struct Run {
    const BatchChunk& chunk;
    const ForwardOptions& options;
    const Observer* observer;  ///< may be null
    pthreadpool_t pool;
    ForwardOutput& out;
  };
  /// Returns the last hidden state [rows, H] of the chunk, with kInputPadding floats behind it,
  /// valid until the next call. Appends it to `out`, and the hidden states and attentions that the
  /// options ask for.
  const float* run(const Run& run);

 private:
  struct Attention {
    Attention(const AttentionWeights& weights, FloatProducts products);
    FloatLinear query, key, value, out;
    std::vector<float> residual_gain;
    Matrix relative_positions;  // AttentionWeights::distance_embedding
  };
  struct FeedForward {
    FeedForward(const FeedForwardWeights& weights, FloatProducts products);
    LayerNorm norm;
    FloatLinear up, down;
    std::optional<FloatLinear> gate;
    std::vector<float> residual_gain;
  };
  struct Bottleneck {
    Bottleneck(const BottleneckWeights& weights, FloatProducts products);
    FloatLinear input;
    LayerNorm input_norm;
    std::optional<FloatLinear> query_key;
    LayerNorm query_key_norm, widening_norm;
    FloatLinear output;
    std::vector<float> residual_gain;
  };
  struct Layer {
    Layer(const LayerWeights& weights, FloatProducts products);
    Attention attention;
    LayerNorm cross_norm;
    std::optional<Attention> cross;
    std::vector<FeedForward> ffns;
    std::optional<Bottleneck> bottleneck;
  };

  struct Projection {
    Projection(const EmbeddingProjection& weights, FloatProducts products);
    LayerNorm norm;
    FloatLinear dense;
  };
  // A layer that runs. Layers may share weights.
  struct LayerRun {
    Layer& layer;
    int number;
    std::size_t first_head;  // attention heads of the layers before: index into the head mask
  };

  Viewer viewer(const Run& run) const { return {run.observer, number_, run.chunk.lengths}; }
  Viewer source_viewer(const Run& run) const {
    return {run.observer, number_, run.chunk.source_lengths};
  }
  std::size_t hidden_values(const Run& run) const {
    return run.chunk.rows * static_cast<std::size_t>(config_.hidden_size);
  }

  // normalize() makes input_ from sum_; a block reads input_ and leaves the next residual sum in
  // sum_.
  void embed(const Run& run);
  // `words`: [rows, E] the words' part of the sum, or null: the rows of word_ or the given ones.
  void sum_embeddings(const BatchChunk& chunk, const float* words, float* sum) const;
  // [rows, H] the words' part.
  const float* project_words(const Run& run);
  void normalize(const Run& run, const LayerNorm& norm);
  // Through the dense layers before a layer's blocks, and behind them.
  void enter_bottleneck(const Run& run, const LayerRun& at);
  void leave_bottleneck(const Run& run, const LayerRun& at);
  // Self-attention; or cross-attention to `states` [source rows, cross_hidden_size].
  void attention(const Run& run, const LayerRun& at, const float* states);
  void feed_forward(const Run& run, const LayerRun& at, std::size_t index);
  // sum = block's output + gain * block's input.
  void add_residual(const Run& run, const std::vector<float>& gain);
  void keep_hidden_state(const Run& run, std::size_t layer) const;

  StackConfig config_;
  int number_;
  Matrix word_, position_, token_type_, score_bias_;
  Matrix angles_, local_angles_;  // of rotary positions
  std::optional<FloatLinear> word_projection_;
  std::optional<Projection> projection_;
  std::vector<std::optional<LayerNorm>> input_norms_;
  std::vector<Layer> layers_;
  LayerNorm final_norm_;

  std::size_t width_ = 0;        // H, inside a layer with bottlenecks B; as H in the next three
  FloatBuffer buffers_[3];       // behind the next three, which swap them
  float* sum_ = nullptr;         // [rows, H] residual sum
  float* input_ = nullptr;       // [rows, H] LayerNorm of the sum: input of a block
  float* block_ = nullptr;       // [rows, H] output of a block
  FloatBuffer embeddings_;       // [rows, E], with a projection
  FloatBuffer words_;            // [rows, W or 3 W], with a word projection
  FloatBuffer projected_words_;  // [rows, H], with a word projection
  FloatBuffer hidden_;           // [rows, H] input of a layer with bottlenecks
  FloatBuffer query_key_;        // [rows, B] input of query and key, with BottleneckKind::kShared
  FloatBuffer query_, context_;  // [rows, A]
  FloatBuffer key_, value_;      // [rows or source rows, A]
  FloatBuffer inner_, gate_;     // [rows, I]
  FloatBuffer states_;           // [source rows, cross_hidden_size]
};

}  // namespace embert::convert
