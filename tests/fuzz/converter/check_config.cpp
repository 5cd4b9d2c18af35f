// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/converter/check_config.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tests/fuzz/support/require.hpp"

namespace embert::fuzz {
namespace {

using convert::Linear;
using convert::Matrix;
using convert::ModelConfig;
using convert::StackConfig;

void check_range(std::int64_t value, std::int64_t least, std::int64_t most, const char* what) {
  require(value >= least && value <= most, what);
}

void check_sizes(const StackConfig& stack) {
  check_range(stack.hidden_size, 1, kMaxHiddenSize, "hidden_size");
  check_range(stack.num_hidden_layers, 1, kMaxLayers, "num_hidden_layers");
  check_range(stack.num_attention_heads, 1, kMaxHeads, "num_attention_heads");
  check_range(stack.intermediate_size, 1, kMaxIntermediateSize, "intermediate_size");
  check_range(stack.vocab_size, 1, kMaxVocabSize, "vocab_size");
  check_range(stack.max_position_embeddings, 1, kMaxPositions, "max_position_embeddings");
  check_range(stack.type_vocab_size, 1, kMaxTypes, "type_vocab_size");
  check_range(stack.embedding_size(), 1, kMaxHiddenSize, "embedding_size");
  check_range(stack.word_size(), 1, kMaxHiddenSize, "width of words");
  check_range(stack.intra_size(), 1, stack.hidden_size, "intra_bottleneck_size");
  check_range(stack.num_ffns, 1, kMaxFfns, "num_feedforward_networks");
  check_range(stack.head_size(), 1, kMaxHeadSize, "head size");
  require(stack.intra_size() % stack.num_attention_heads == 0, "attention heads divide the width");
  check_range(stack.cross_hidden_size, 0, kMaxHiddenSize, "cross_attention_hidden_size");
}

void check_layers(const StackConfig& stack) {
  const auto layers = static_cast<std::size_t>(stack.num_hidden_layers);
  require(stack.num_heads_of_layer.size() == layers, "attention heads of each layer");
  for (const int heads : stack.num_heads_of_layer) {
    check_range(heads, 1, stack.num_attention_heads, "attention heads of a layer");
  }
  require(stack.weights_of_layer.empty() || stack.weights_of_layer.size() == layers,
          "weights of each layer");
  int next = 0;
  for (const int weights : stack.weights_of_layer) {
    check_range(weights, 0, next, "weights of a layer");
    next = std::max(next, weights + 1);
  }
}

void check_positions(const StackConfig& stack) {
  check_range(stack.padding_position_id, -1, stack.vocab_size - 1, "padding id of positions");
  check_range(stack.first_position_row, 0, stack.stored_positions - 1, "first row of positions");
  check_range(stack.max_position_embeddings, 1, stack.stored_positions - stack.first_position_row,
              "rows of positions");
  if (stack.rotary) {
    require(stack.head_size() % 2 == 0, "an even head size");
    for (const double theta : {stack.rotary->theta, stack.rotary->local_theta}) {
      require(theta > 1 && theta <= 1e12, "theta");
    }
  }
  if (stack.local_attention) {
    check_range(stack.local_attention->period, 1, 1 << 16, "period of global attention");
    check_range(stack.local_attention->reach, 0, 1 << 16, "reach of local attention");
  }
}

void check_matrix(const Matrix& matrix, int rows, int cols, const char* what) {
  require(matrix.rows == static_cast<std::size_t>(rows) &&
              matrix.cols == static_cast<std::size_t>(cols) &&
              matrix.data.size() == matrix.rows * matrix.cols,
          what);
  require(std::ranges::all_of(matrix.data, [](float x) { return std::isfinite(x); }),
          "finite weights");
}

void check_linear(const Linear& linear, int outputs, int inputs, const char* what) {
  check_matrix(linear.weight, outputs, inputs, what);
  require(linear.bias.size() == linear.weight.rows, what);
}

void check_stack_weights(const StackConfig& stack, const convert::StackWeights& weights) {
  check_matrix(weights.word_embeddings, stack.vocab_size, stack.word_size(), "word embeddings");
  check_matrix(weights.token_type_embeddings, stack.type_vocab_size, stack.embedding_size(),
               "segments");
  if (stack.has_bottleneck()) return;
  const int hidden = stack.hidden_size;
  for (std::size_t l = 0; l < weights.layers.size(); ++l) {
    const convert::LayerWeights& layer = weights.layers[l];
    // Layers that share weights have all their attention heads.
    const int heads =
        stack.weights_of_layer.empty() ? stack.num_heads_of_layer[l] : stack.num_attention_heads;
    const int width = heads * stack.head_size();
    check_linear(layer.attention.query, width, hidden, "query");
    check_linear(layer.attention.key, width, hidden, "key");
    check_linear(layer.attention.value, width, hidden, "value");
    check_linear(layer.attention.out, hidden, width, "attention output");
    check_linear(layer.ffn_up, stack.intermediate_size, hidden, "feed-forward up");
    check_linear(layer.ffn_down, hidden, stack.intermediate_size, "feed-forward down");
  }
}

}  // namespace

void check_config(const ModelConfig& config) {
  check_range(static_cast<std::int64_t>(config.stacks.size()), 1, 2, "stacks");
  for (const StackConfig& stack : config.stacks) {
    check_sizes(stack);
    check_layers(stack);
    check_positions(stack);
    require(stack.layer_norm_eps > 0 && stack.layer_norm_eps <= 1, "layer_norm_eps");
    require(stack.embedding_scale > 0 && stack.embedding_scale <= 1e6, "embedding_scale");
  }
  check_range(static_cast<std::int64_t>(config.label_names.size()), 0, kMaxLabels, "labels");
  check_range(config.pad_token_id, -1, config.first().vocab_size - 1, "pad_token_id");
  check_range(config.eos_token_id, -1, config.last().vocab_size - 1, "eos_token_id");
  check_range(config.decoder_start_token_id, -1, config.last().vocab_size - 1,
              "decoder_start_token_id");
}

void check_weights(const convert::ModelFolder& folder) {
  const std::vector<StackConfig>& stacks = folder.config.stacks;
  require(folder.weights.stacks.size() == stacks.size(), "weights of each stack");
  for (std::size_t s = 0; s < stacks.size(); ++s) {
    check_stack_weights(stacks[s], folder.weights.stacks[s]);
  }
  check_range(stacks[0].dropped_token, -1, stacks[0].vocab_size - 1, "the token that is dropped");
  const convert::PoolingConfig& pooling = folder.pooling;
  check_range(static_cast<std::int64_t>(pooling.kinds.size()), 1, kMaxPoolings, "poolings");
  int size = static_cast<int>(pooling.kinds.size()) * stacks.back().hidden_size;
  check_range(size, 1, kMaxVectorSize, "size of the pooled vector");
  check_range(static_cast<std::int64_t>(pooling.dense.size()), 0, kMaxVectorDense, "Dense modules");
  for (const convert::VectorDense& dense : pooling.dense) {
    const auto outputs = static_cast<int>(dense.linear.weight.rows);
    check_range(outputs, 1, kMaxVectorSize, "size of a Dense module");
    check_linear(dense.linear, outputs, size, "a Dense module");
    size = outputs;
  }
}

}  // namespace embert::fuzz
