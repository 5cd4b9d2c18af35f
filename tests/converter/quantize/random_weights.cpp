// SPDX-License-Identifier: Apache-2.0
#include "tests/converter/quantize/random_weights.hpp"

#include <cmath>
#include <utility>

namespace embert::test {
namespace {

using convert::AttentionWeights;
using convert::LanguageHeadKind;
using convert::LayerNorm;
using convert::LayerWeights;
using convert::Linear;
using convert::Matrix;
using convert::ModelConfig;
using convert::ModelWeights;
using convert::NormPosition;
using convert::PositionKind;
using convert::StackConfig;
using convert::StackWeights;

std::size_t to_size(int value) { return static_cast<std::size_t>(value); }

Linear random_linear(Random& random, std::size_t outputs, std::size_t inputs) {
  Linear linear;
  linear.weight =
      random_matrix(random, outputs, inputs, 1.7F / std::sqrt(static_cast<float>(inputs)));
  for (std::size_t n = 0; n < outputs; ++n) linear.bias.push_back(0.3F * random.next());
  return linear;
}

LayerNorm random_norm(Random& random, std::size_t size) {
  LayerNorm norm;
  for (std::size_t c = 0; c < size; ++c) {
    norm.gamma.push_back(1 + 0.5F * random.next());
    norm.beta.push_back(0.4F * random.next());
  }
  return norm;
}

AttentionWeights random_attention(Random& random, std::size_t hidden, std::size_t width,
                                  std::size_t source_hidden) {
  AttentionWeights out;
  out.query = random_linear(random, width, hidden);
  out.key = random_linear(random, width, source_hidden);
  out.value = random_linear(random, width, source_hidden);
  out.out = random_linear(random, hidden, width);
  return out;
}

// Appends a layer and the LayerNorm that makes its input.
void add_random_layer(Random& random, const StackConfig& config, int heads, StackWeights& stack) {
  const std::size_t hidden = to_size(config.hidden_size), inner = to_size(config.intermediate_size);
  stack.input_norms.emplace_back(random_norm(random, hidden));
  LayerWeights& out = stack.layers.emplace_back();
  out.attention = random_attention(random, hidden, to_size(heads * config.head_size()), hidden);
  if (config.position_kind != PositionKind::kAbsolute) {
    out.attention.distance_embedding = random_matrix(
        random, to_size(2 * config.max_position_embeddings - 1), to_size(config.head_size()), 0.5F);
  }
  if (config.cross_attention) {
    out.cross_norm = random_norm(random, hidden);
    out.cross = random_attention(random, hidden, hidden, to_size(config.cross_hidden_size));
  }
  out.ffn_norm = random_norm(random, hidden);
  out.ffn_up = random_linear(random, inner, hidden);
  out.ffn_down = random_linear(random, hidden, inner);
}

StackWeights random_stack(Random& random, const StackConfig& config) {
  const std::size_t hidden = to_size(config.hidden_size);
  StackWeights out;
  out.word_embeddings = random_matrix(random, to_size(config.vocab_size), hidden, 1);
  if (config.position_kind == PositionKind::kAbsolute) {
    out.position_embeddings =
        random_matrix(random, to_size(config.max_position_embeddings), hidden, 0.3F);
  }
  out.token_type_embeddings = random_matrix(random, to_size(config.type_vocab_size), hidden, 0.2F);
  for (const int heads : config.num_heads_of_layer) {
    add_random_layer(random, config, heads, out);
  }
  if (config.norm_position == NormPosition::kPost && !config.embedding_layer_norm) {
    out.input_norms[0].reset();
  }
  out.final_norm = random_norm(random, hidden);
  return out;
}

}  // namespace

std::uint64_t Random::bits() {
  std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
float Random::next() { return static_cast<float>(bits() >> 40) * 0x1p-23F - 1; }
std::size_t Random::below(std::size_t count) { return bits() % count; }

Matrix random_matrix(Random& random, std::size_t rows, std::size_t cols, float scale) {
  Matrix matrix{rows, cols, {}};
  for (std::size_t i = 0; i < rows * cols; ++i) matrix.data.push_back(scale * random.next());
  return matrix;
}

StackConfig small_stack() {
  StackConfig config;
  config.hidden_size = 32;
  config.num_hidden_layers = 3;
  config.num_attention_heads = 2;
  config.intermediate_size = 64;
  config.vocab_size = 50;
  config.max_position_embeddings = config.stored_positions = 24;
  config.type_vocab_size = 2;
  config.num_heads_of_layer.assign(3, 2);
  return config;
}

ModelWeights random_weights(const ModelConfig& config, std::uint64_t seed) {
  Random random(seed);
  ModelWeights out;
  for (const StackConfig& stack : config.stacks) out.stacks.push_back(random_stack(random, stack));
  const std::size_t hidden = to_size(config.last().hidden_size);
  const std::size_t labels = config.label_names.size();
  if (config.stacks.size() == 1) {
    out.pooler = {.dense = random_linear(random, hidden, hidden), .norm = {}};
  } else if (config.first().hidden_size != config.last().cross_hidden_size) {
    out.projection = random_linear(random, to_size(config.last().cross_hidden_size),
                                   to_size(config.first().hidden_size));
  }
  if (config.classifier != convert::ClassifierTask::kNone) {
    out.classifier = random_linear(random, labels, hidden);
  }
  if (config.token_classifier != convert::TokenTask::kNone) {
    out.token_classifier = random_linear(random, labels, hidden);
  }
  if (config.language_head == LanguageHeadKind::kNone) return out;
  const Linear output = random_linear(random, to_size(config.last().vocab_size), hidden);
  convert::LanguageHead& head = out.language_head.emplace();
  if (config.language_head == LanguageHeadKind::kBert) {
    head.transform = random_linear(random, hidden, hidden);
    head.norm = random_norm(random, hidden);
  }
  if (!config.tied_output) head.output_embeddings = output.weight;
  head.bias = output.bias;
  return out;
}

convert::TokenBatch random_texts(const StackConfig& stack, std::size_t texts, std::uint64_t seed) {
  Random random(seed);
  convert::TokenBatch batch;
  for (std::size_t t = 0; t < texts; ++t) {
    const std::size_t length = 1 + random.below(to_size(stack.max_position_embeddings));
    const bool pair = t % 2 == 1 && stack.type_vocab_size > 1;
    for (std::size_t i = 0; i < length; ++i) {
      batch.ids.push_back(static_cast<std::int32_t>(random.below(to_size(stack.vocab_size))));
      batch.type_ids.push_back(pair && i > length / 2 ? 1 : 0);
    }
    batch.lengths.push_back(static_cast<std::int32_t>(length));
  }
  return batch;
}

}  // namespace embert::test
