// SPDX-License-Identifier: Apache-2.0
// A file keeps each LayerNorm in the module of its block: in post-LayerNorm stacks the block before
// the norm, in pre-LayerNorm stacks the block after it. LayerWeights names each norm by the block
// that reads it, so in post-LayerNorm stacks a layer's last norm moves on to the next layer.
#include "converter/import/weights/read_stack_weights.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "converter/arithmetic/all_finite.hpp"
#include "converter/arithmetic/elementary.hpp"
#include "converter/convert_error.hpp"
#include "converter/model/model_config.hpp"

namespace embert::convert {
namespace {

// table[p][2 i] = sin(p / 10000^(2 i / E)), table[p][2 i + 1] = cos(p / 10000^(2 i / E)), where E
// is the width of the embeddings (Vaswani et al. 2017, section 3.5).
Matrix sinusoidal_table(const StackConfig& config) {
  const int size = config.embedding_size();
  Matrix out{
      static_cast<std::size_t>(config.max_position_embeddings), static_cast<std::size_t>(size), {}};
  for (int p = 0; p < config.max_position_embeddings; ++p) {
    for (int c = 0; c < size; ++c) {
      const double angle = p / ieee::pow(10000.0, (c - c % 2) / static_cast<double>(size));
      out.data.push_back(static_cast<float>(c % 2 == 0 ? ieee::sin(angle) : ieee::cos(angle)));
    }
  }
  return out;
}

// Keeps rows [first, first + rows) of a table.
void keep_rows(Matrix& table, std::size_t first, std::size_t rows) {
  const auto begin = table.data.begin() + static_cast<std::ptrdiff_t>(first * table.cols);
  table.data.erase(begin + static_cast<std::ptrdiff_t>(rows * table.cols), table.data.end());
  table.data.erase(table.data.begin(), begin);
  table.rows = rows;
}

// Keeps the rows of the positions, then that of the padding id.
void keep_positions(const StackConfig& config, Matrix& table) {
  std::vector<float> padding;
  if (config.padding_position_id >= 0) {
    const float* row = table.row(static_cast<std::size_t>(config.padding_position_id));
    padding.assign(row, row + table.cols);
  }
  keep_rows(table, static_cast<std::size_t>(config.first_position_row),
            static_cast<std::size_t>(config.max_position_embeddings));
  if (padding.empty()) return;
  table.data.insert(table.data.end(), padding.begin(), padding.end());
  ++table.rows;
}

// The bucket of a relative position key - query: half of the buckets for keys on either side, in
// each half single ones for the nearer positions and then ones that grow with the logarithm, up to
// 128 (Raffel et al. 2020, section 2.1).
int score_bucket(int relative_position, int buckets) {
  const int side = buckets / 2, exact = side / 2;
  const int first = relative_position > 0 ? side : 0, distance = std::abs(relative_position);
  if (distance < exact) return first + distance;
  // In float32 as transformers, so that boundaries fall alike.
  const double ratio =
      static_cast<double>(static_cast<float>(distance) / static_cast<float>(exact));
  const float share =
      static_cast<float>(ieee::log(ratio)) / static_cast<float>(ieee::log(128.0 / exact));
  const int step = static_cast<int>(share * static_cast<float>(side - exact));
  return first + std::min(side - 1, exact + step);
}

// [buckets, heads] in the file -> [heads, 2 P - 1].
Matrix read_score_bias(TensorPicker& tensors, const std::string& name, const StackConfig& config) {
  constexpr int kBuckets = 32;
  const int heads = config.num_attention_heads, positions = config.max_position_embeddings;
  const Matrix stored = tensors.matrix(name, kBuckets, heads);
  Matrix out{static_cast<std::size_t>(heads), static_cast<std::size_t>(2 * positions - 1), {}};
  for (int head = 0; head < heads; ++head) {
    for (int r = 1 - positions; r < positions; ++r) {
      out.data.push_back(stored.row(static_cast<std::size_t>(score_bucket(r, kBuckets)))[head]);
    }
  }
  return out;
}

// NoNorm, x * gamma + beta, is no LayerNorm: the dense layers before it absorb it.
void scale_columns(Matrix& table, const std::vector<float>& gamma) {
  for (std::size_t i = 0; i < table.data.size(); ++i) table.data[i] *= gamma[i % table.cols];
}

void absorb_norm(const LayerNorm& norm, Linear& dense) {
  for (std::size_t n = 0; n < dense.weight.rows; ++n) {
    for (std::size_t c = 0; c < dense.weight.cols; ++c) {
      dense.weight.data[n * dense.weight.cols + c] *= norm.gamma[n];
    }
    dense.bias[n] = dense.bias[n] * norm.gamma[n] + norm.beta[n];
  }
}

void absorb_norm(const LayerNorm& norm, StackWeights& out) {
  if (out.word_projection) {
    const LayerNorm gain{.gamma = norm.gamma, .beta = std::vector<float>(norm.gamma.size())};
    absorb_norm(gain, *out.word_projection);
  } else {
    scale_columns(out.word_embeddings, norm.gamma);
  }
  scale_columns(out.position_embeddings, norm.gamma);
  Matrix& types = out.token_type_embeddings;
  scale_columns(types, norm.gamma);
  for (std::size_t i = 0; i < types.data.size(); ++i) types.data[i] += norm.beta[i % types.cols];
  // Calibration does not see all rows of a table.
  for (const Matrix* table :
       {&out.word_embeddings, &out.position_embeddings, &out.token_type_embeddings}) {
    if (all_finite(table->data)) continue;
    throw ConvertError(
        "model.safetensors: embeddings times the weight of their NoNorm are not finite; one of "
        "them is too large or damaged: compare the file with its source");
  }
}

void read_embeddings(TensorPicker& tensors, const StackNames& names, const std::string& prefix,
                     const StackConfig& config, StackWeights& out) {
  const int size = config.embedding_size(), word_size = config.word_size();
  const std::string positions = joined(prefix, names.position_embeddings);
  out.word_embeddings =
      tensors.matrix(joined(prefix, names.word_embeddings), config.vocab_size, word_size);
  if (config.position_kind != PositionKind::kAbsolute) {
    tensors.skip(positions);  // transformers stores the table without using it
  } else if (config.rotary) {
    // No table: attention turns queries and keys.
  } else if (config.sinusoidal) {
    out.position_embeddings = sinusoidal_table(config);
  } else {
    out.position_embeddings = tensors.matrix(positions, config.stored_positions, size);
    keep_positions(config, out.position_embeddings);
  }
  if (config.stored_types) {
    out.token_type_embeddings =
        tensors.matrix(joined(prefix, names.token_type_embeddings), config.type_vocab_size, size);
  } else {
    const auto width = static_cast<std::size_t>(size);
    out.token_type_embeddings = {1, width, std::vector<float>(width)};
  }
  const std::string word_projection = joined(prefix, names.word_projection);
  if (config.has_word_projection()) {
    out.word_projection = tensors.linear(word_projection, config.hidden_size,
                                         config.trigrams ? 3 * word_size : word_size);
  } else if (!names.word_projection.empty()) {
    // transformers stores the layer without using it.
    tensors.skip(word_projection + ".weight");
    tensors.skip(word_projection + ".bias");
  }
  if (!config.layer_norms) {
    absorb_norm(tensors.layer_norm(joined(prefix, names.embedding_norm), size), out);
  }
  if (!config.has_embedding_projection()) return;
  out.projection = {.norm = tensors.layer_norm(joined(prefix, names.embedding_norm), size),
                    .dense = tensors.linear(joined(prefix, names.embedding_projection),
                                            config.hidden_size, size)};
}

struct AttentionSizes {
  int query, key, value;  // of their inputs
  int out;
  int width;  // attention heads * head size
  bool has_bias;
};

// Outputs [first, first + count) of a dense layer.
Linear slice(const Linear& linear, std::size_t first, std::size_t count) {
  const auto begin =
      linear.weight.data.begin() + static_cast<std::ptrdiff_t>(first * linear.weight.cols);
  const auto bias = linear.bias.begin() + static_cast<std::ptrdiff_t>(first);
  return {.weight = {count,
                     linear.weight.cols,
                     {begin, begin + static_cast<std::ptrdiff_t>(count * linear.weight.cols)}},
          .bias = {bias, bias + static_cast<std::ptrdiff_t>(count)}};
}

// `layer` is the layer's prefix.
AttentionWeights read_attention(TensorPicker& tensors, const AttentionNames& names,
                                const std::string& layer, const AttentionSizes& sizes) {
  AttentionWeights out;
  const auto linear = [&](std::string_view name, int outputs, int inputs) {
    return tensors.linear(joined(layer, name), outputs, inputs, sizes.has_bias);
  };
  if (names.fused.empty()) {
    out.query = linear(names.query, sizes.width, sizes.query);
    out.key = linear(names.key, sizes.width, sizes.key);
    out.value = linear(names.value, sizes.width, sizes.value);
  } else {
    const Linear fused = linear(names.fused, 3 * sizes.width, sizes.query);
    const auto width = static_cast<std::size_t>(sizes.width);
    out.query = slice(fused, 0, width);
    out.key = slice(fused, width, width);
    out.value = slice(fused, 2 * width, width);
  }
  out.out = linear(names.out, sizes.out, sizes.width);
  return out;
}

// If the file's table is for longer texts, keeps its middle rows: the relative positions among
// max_position_embeddings tokens.
Matrix read_relative_positions(TensorPicker& tensors, const std::string& name,
                               const StackConfig& config) {
  Matrix out = tensors.matrix(name, 2 * config.stored_positions - 1, config.head_size());
  keep_rows(out, static_cast<std::size_t>(config.stored_positions - config.max_position_embeddings),
            static_cast<std::size_t>(2 * config.max_position_embeddings - 1));
  return out;
}

// A layer of the file, and the LayerNorm in it that another layer may read: in pre-LayerNorm stacks
// the one that makes its own input, in post-LayerNorm stacks the one behind its last block.
struct StoredLayer {
  LayerWeights weights;
  std::optional<LayerNorm> norm;
};

// As in AttentionNames and FeedForwardNames.
struct BlockNorms {
  std::string_view norm, pre_norm;
};

// `prefix` is that of the network.
void read_ffn(TensorPicker& tensors, const FeedForwardNames& names, const std::string& prefix,
              const StackConfig& config, FeedForwardWeights& out) {
  const int inner = config.intermediate_size, parts = config.gated_ffn ? 2 : 1;
  const int width = config.intra_size();
  out.ffn_up = tensors.linear(joined(prefix, names.up), parts * inner, width, config.ffn_bias);
  if (config.gated_ffn) {
    const auto rows = static_cast<std::size_t>(inner);
    out.ffn_gate = slice(out.ffn_up, rows, rows);
    out.ffn_up = slice(out.ffn_up, 0, rows);
  }
  out.ffn_down = tensors.linear(joined(prefix, names.down), width, inner, config.ffn_bias);
}

struct LayerPlace {
  int heads;
  bool
      has_norm;  // a LayerNorm of its first block; a pre-LayerNorm stack may have another one there
};

StoredLayer read_layer(TensorPicker& tensors, const StackNames& names, const std::string& layer,
                       const StackConfig& config, const LayerPlace& place) {
  const int hidden = config.hidden_size, intra = config.intra_size();
  const bool pre = config.norm_position == NormPosition::kPre;
  // The LayerNorm that makes the next block's input. `block` names the one in that block's module:
  // in post-LayerNorm stacks it makes the input of the block after.
  std::optional<LayerNorm> last;
  const auto norm_of_next_block = [&](const auto& block) {
    if (!config.layer_norms) return std::optional<LayerNorm>();
    std::optional<LayerNorm> own = tensors.layer_norm(
        joined(layer, pre ? block.pre_norm : block.norm), intra, config.norm_bias);
    return pre ? std::move(own) : std::exchange(last, std::move(own));
  };
  // The gain of the residual, where a block's dense layer absorbs NoNorm behind their sum.
  const auto absorb = [&](const std::string& norm, Linear& dense) {
    if (config.layer_norms) return std::vector<float>();
    const LayerNorm stored = tensors.layer_norm(norm, static_cast<int>(dense.weight.rows));
    absorb_norm(stored, dense);
    return stored.gamma;
  };
  LayerWeights out;
  std::optional<LayerNorm> first;
  if (place.has_norm) first = norm_of_next_block(names.attention);
  const bool shared = config.bottleneck == BottleneckKind::kShared;
  const int reads = config.bottleneck == BottleneckKind::kOutput ? hidden : intra;
  out.attention = read_attention(tensors, names.attention, layer,
                                 {.query = reads,
                                  .key = reads,
                                  .value = shared ? hidden : reads,
                                  .out = intra,
                                  .width = place.heads * config.head_size(),
                                  .has_bias = config.attention_bias});
  out.attention.residual_gain = absorb(joined(layer, names.attention.norm), out.attention.out);
  if (config.position_kind != PositionKind::kAbsolute) {
    out.attention.distance_embedding =
        read_relative_positions(tensors, joined(layer, names.relative_positions), config);
  }
  if (config.cross_attention) {
    out.cross_norm = *norm_of_next_block(names.cross);
    out.cross = read_attention(tensors, names.cross, layer,
                               {.query = hidden,
                                .key = config.cross_hidden_size,
                                .value = config.cross_hidden_size,
                                .out = hidden,
                                .width = hidden,
                                .has_bias = config.attention_bias});
  }
  out.stacked.resize(static_cast<std::size_t>(config.num_ffns - 1));
  for (int i = 0; i < config.num_ffns; ++i) {
    FeedForwardWeights& ffn = i == 0 ? out : out.stacked[static_cast<std::size_t>(i - 1)];
    const bool is_last = i + 1 == config.num_ffns;
    const std::string prefix =
        is_last ? "" : std::string(names.stacked_ffns) + std::to_string(i) + ".";
    const std::string norm = prefix + std::string(names.ffn.norm);
    const std::string pre_norm = prefix + std::string(names.ffn.pre_norm);
    ffn.ffn_norm = norm_of_next_block(BlockNorms{norm, pre_norm}).value_or(LayerNorm());
    if (is_last && last) last->eps = config.closing_norm_eps;
    read_ffn(tensors, names.ffn, layer + prefix, config, ffn);
    ffn.residual_gain = absorb(layer + norm, ffn.ffn_down);
  }
  if (config.has_bottleneck()) {
    BottleneckWeights& bottleneck = out.bottleneck.emplace();
    const auto read = [&](const BottleneckNames& of, Linear& dense, LayerNorm& norm) {
      const int outputs = &dense == &bottleneck.output ? hidden : intra;
      dense = tensors.linear(joined(layer, of.dense), outputs, hidden + intra - outputs);
      norm = tensors.layer_norm(joined(layer, of.norm), outputs);
      if (config.layer_norms) return;
      absorb_norm(norm, dense);
      if (outputs == hidden) bottleneck.residual_gain = norm.gamma;
      norm = {};
    };
    read(names.bottleneck_input, bottleneck.input.dense, bottleneck.input.norm);
    if (shared) {
      read(names.bottleneck_query_key, bottleneck.query_key.dense, bottleneck.query_key.norm);
    } else {
      // transformers stores these without using them.
      for (const std::string_view unused :
           {names.bottleneck_query_key.dense, names.bottleneck_query_key.norm}) {
        for (const char* part : {".weight", ".bias"}) tensors.skip(joined(layer, unused) + part);
      }
    }
    LayerNorm behind;
    read(names.bottleneck_output, bottleneck.output, behind);
    if (config.layer_norms) bottleneck.widening_norm = *std::exchange(last, std::move(behind));
  }
  return {.weights = std::move(out), .norm = pre ? std::move(first) : std::move(last)};
}

// "encoder.layer.3.", or the layer's place in its group.
std::string layer_prefix(const StackNames& names, const StackConfig& config, std::size_t weights) {
  const std::string layers{names.layers};
  if (names.layers_of_group.empty()) return layers + std::to_string(weights) + ".";
  const auto of_group = static_cast<std::size_t>(config.layers_of_group);
  return layers + std::to_string(weights / of_group) + "." + std::string(names.layers_of_group) +
         std::to_string(weights % of_group) + ".";
}

}  // namespace

StackWeights read_stack_weights(TensorPicker& tensors, const StackNames& names,
                                const std::string& prefix, const StackConfig& config) {
  StackWeights out;
  read_embeddings(tensors, names, prefix, config, out);
  if (config.score_bias) {
    out.score_bias = read_score_bias(tensors, joined(prefix, names.score_bias), config);
  }
  std::optional<LayerNorm> embedding_norm;
  if (config.embedding_layer_norm && config.layer_norms && !out.projection) {
    embedding_norm = tensors.layer_norm(joined(prefix, names.embedding_norm), config.hidden_size,
                                        config.norm_bias);
    embedding_norm->eps = config.closing_norm_eps;
  }
  const bool pre = config.norm_position == NormPosition::kPre;
  std::vector<std::optional<LayerNorm>> norms;  // StoredLayer::norm, by weights
  for (std::size_t l = 0; l < config.num_heads_of_layer.size(); ++l) {
    const std::size_t weights = config.weights_of(l);
    if (weights == out.layers.size()) {
      const LayerPlace place = {.heads = config.num_heads_of_layer[l],
                                .has_norm = l > 0 || !pre || !embedding_norm};
      StoredLayer stored =
          read_layer(tensors, names, prefix + layer_prefix(names, config, weights), config, place);
      out.layers.push_back(std::move(stored.weights));
      norms.push_back(std::move(stored.norm));
    }
    if (l == 0 && (!pre || embedding_norm)) {
      out.input_norms.push_back(embedding_norm);
    } else {
      out.input_norms.push_back(norms[pre ? weights : config.weights_of(l - 1)]);
    }
  }
  out.final_norm =
      config.final_layer_norm
          ? tensors.layer_norm(joined(prefix, names.final_norm), config.hidden_size,
                               config.norm_bias)
          : norms[config.weights_of(config.num_heads_of_layer.size() - 1)].value_or(LayerNorm());
  return out;
}

}  // namespace embert::convert
