// SPDX-License-Identifier: Apache-2.0
// A file keeps each LayerNorm in the module of its block: in post-LayerNorm stacks the block before
// the norm, in pre-LayerNorm stacks the block after it. LayerWeights names each norm by the block
// that reads it, so in post-LayerNorm stacks a layer's last norm moves on to the next layer.
#include "converter/import/weights/read_stack_weights.hpp"

#include <cmath>
#include <utility>

#include "converter/model/model_config.hpp"

namespace embert::convert {
namespace {

// table[p][2 i] = sin(p / 10000^(2 i / H)), table[p][2 i + 1] = cos(p / 10000^(2 i / H)) (Vaswani
// et al. 2017, section 3.5).
Matrix sinusoidal_table(const StackConfig& config) {
  Matrix out{static_cast<std::size_t>(config.max_position_embeddings),
             static_cast<std::size_t>(config.hidden_size),
             {}};
  for (int p = 0; p < config.max_position_embeddings; ++p) {
    for (int c = 0; c < config.hidden_size; ++c) {
      const double angle =
          p / std::pow(10000.0, (c - c % 2) / static_cast<double>(config.hidden_size));
      out.data.push_back(static_cast<float>(c % 2 == 0 ? std::sin(angle) : std::cos(angle)));
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

void read_embeddings(TensorPicker& tensors, const std::string& prefix, const StackConfig& config,
                     StackWeights& out) {
  const int hidden = config.hidden_size;
  const std::string positions = prefix + "embeddings.position_embeddings.weight";
  out.word_embeddings =
      tensors.matrix(prefix + "embeddings.word_embeddings.weight", config.vocab_size, hidden);
  if (config.position_kind != PositionKind::kAbsolute) {
    tensors.skip(positions);  // transformers stores the table without using it
  } else if (config.sinusoidal) {
    out.position_embeddings = sinusoidal_table(config);
  } else {
    out.position_embeddings = tensors.matrix(positions, config.stored_positions, hidden);
    keep_rows(out.position_embeddings, 0, static_cast<std::size_t>(config.max_position_embeddings));
  }
  if (config.stored_types) {
    out.token_type_embeddings = tensors.matrix(prefix + "embeddings.token_type_embeddings.weight",
                                               config.type_vocab_size, hidden);
  } else {
    const auto width = static_cast<std::size_t>(hidden);
    out.token_type_embeddings = {1, width, std::vector<float>(width)};
  }
}

struct AttentionSizes {
  int hidden;         // of the queries' input and of the output
  int source_hidden;  // of the keys' and values' input
  int width;          // attention heads * head size
};

// `name` is "attention" or "crossattention" of a layer.
AttentionWeights read_attention(TensorPicker& tensors, const std::string& name,
                                const AttentionSizes& sizes) {
  AttentionWeights out;
  out.query = tensors.linear(name + ".self.query", sizes.width, sizes.hidden);
  out.key = tensors.linear(name + ".self.key", sizes.width, sizes.source_hidden);
  out.value = tensors.linear(name + ".self.value", sizes.width, sizes.source_hidden);
  out.out = tensors.linear(name + ".output.dense", sizes.hidden, sizes.width);
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

// `norm`, in post-LayerNorm stacks: on entry the LayerNorm that makes this layer's input,
// afterwards the one that makes the next layer's.
LayerWeights read_layer(TensorPicker& tensors, const std::string& layer, const StackConfig& config,
                        int heads, std::optional<LayerNorm>& norm) {
  const int hidden = config.hidden_size;
  const bool pre = config.norm_position == NormPosition::kPre;
  // The LayerNorm that makes the next block's input. `stored` names the one in that block's module:
  // in post-LayerNorm stacks it makes the input of the block after.
  const auto norm_of_next_block = [&](const std::string& stored) {
    LayerNorm own = tensors.layer_norm(layer + stored, hidden);
    return pre ? std::move(own) : std::exchange(norm, std::move(own));
  };
  LayerWeights out;
  out.input_norm = norm_of_next_block(pre ? "attention.LayerNorm" : "attention.output.LayerNorm");
  out.attention = read_attention(
      tensors, layer + "attention",
      {.hidden = hidden, .source_hidden = hidden, .width = heads * config.head_size()});
  if (config.position_kind != PositionKind::kAbsolute) {
    out.attention.distance_embedding = read_relative_positions(
        tensors, layer + "attention.self.distance_embedding.weight", config);
  }
  if (config.cross_attention) {
    out.cross_norm =
        *norm_of_next_block(pre ? "crossattention.LayerNorm" : "crossattention.output.LayerNorm");
    out.cross = read_attention(
        tensors, layer + "crossattention",
        {.hidden = hidden, .source_hidden = config.cross_hidden_size, .width = hidden});
  }
  out.ffn_norm = *norm_of_next_block(pre ? "intermediate.LayerNorm" : "output.LayerNorm");
  out.ffn_up = tensors.linear(layer + "intermediate.dense", config.intermediate_size, hidden);
  out.ffn_down = tensors.linear(layer + "output.dense", hidden, config.intermediate_size);
  return out;
}

}  // namespace

StackWeights read_stack_weights(TensorPicker& tensors, const std::string& prefix,
                                const StackConfig& config) {
  StackWeights out;
  read_embeddings(tensors, prefix, config, out);
  std::optional<LayerNorm> norm;
  if (config.embedding_layer_norm) {
    norm = tensors.layer_norm(prefix + "embeddings.LayerNorm", config.hidden_size);
  }
  for (int l = 0; l < config.num_hidden_layers; ++l) {
    out.layers.push_back(read_layer(tensors, prefix + "encoder.layer." + std::to_string(l) + ".",
                                    config, config.num_heads_of_layer[static_cast<std::size_t>(l)],
                                    norm));
  }
  out.final_norm = config.final_layer_norm
                       ? tensors.layer_norm(prefix + "LayerNorm", config.hidden_size)
                       : *norm;
  return out;
}

}  // namespace embert::convert
