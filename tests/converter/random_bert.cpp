// SPDX-License-Identifier: Apache-2.0
#include "tests/converter/random_bert.hpp"

#include <algorithm>
#include <cmath>

#include "converter/integer_model.hpp"
#include "converter/write_blob.hpp"

namespace embert::test {
namespace {

using convert::LayerNorm;
using convert::LayerWeights;
using convert::Linear;
using convert::Matrix;
using convert::StackWeights;
using convert::TokenBatch;

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

RandomBert make_random_bert(std::uint64_t seed, int labels) {
  Random random(seed);
  RandomBert bert;
  convert::BertConfig& config = bert.config.stacks.emplace_back();
  config.hidden_size = 32;
  config.num_hidden_layers = 3;
  config.num_attention_heads = 2;
  config.intermediate_size = 64;
  config.vocab_size = 50;
  config.max_position_embeddings = config.stored_positions = 24;
  config.type_vocab_size = 2;
  config.num_heads_of_layer.assign(3, 2);
  const std::size_t hidden = 32, inner = 64;
  StackWeights& w = bert.weights.stacks.emplace_back();
  w.word_embeddings = random_matrix(random, 50, hidden, 1);
  w.position_embeddings = random_matrix(random, 24, hidden, 0.3F);
  w.token_type_embeddings = random_matrix(random, 2, hidden, 0.2F);
  LayerNorm norm = random_norm(random, hidden);
  for (int l = 0; l < config.num_hidden_layers; ++l) {
    LayerWeights& layer = w.layers.emplace_back();
    layer.input_norm = std::move(norm);
    for (Linear* linear : {&layer.attention.query, &layer.attention.key, &layer.attention.value,
                           &layer.attention.output}) {
      *linear = random_linear(random, hidden, hidden);
    }
    layer.ffn_norm = random_norm(random, hidden);
    layer.intermediate = random_linear(random, inner, hidden);
    layer.output = random_linear(random, hidden, inner);
    norm = random_norm(random, hidden);
  }
  w.output_norm = std::move(norm);
  bert.weights.pooler = random_linear(random, hidden, hidden);
  if (labels > 0) {
    bert.config.classifier = convert::ClassifierTask::kSequenceClassification;
    bert.weights.classifier = random_linear(random, static_cast<std::size_t>(labels), hidden);
    for (int i = 0; i < labels; ++i) bert.config.label_names.push_back(std::to_string(i));
  }
  return bert;
}

TokenBatch make_random_texts(const RandomBert& bert, std::size_t texts, std::uint64_t seed) {
  Random random(seed);
  TokenBatch batch;
  const auto vocabulary = static_cast<std::size_t>(bert.config.first().vocab_size);
  for (std::size_t t = 0; t < texts; ++t) {
    const std::size_t length = 1 + random.below(24);
    for (std::size_t i = 0; i < length; ++i) {
      batch.ids.push_back(static_cast<std::int32_t>(random.below(vocabulary)));
      batch.type_ids.push_back(t % 2 == 1 && i > length / 2 ? 1 : 0);
    }
    batch.lengths.push_back(static_cast<std::int32_t>(length));
  }
  return batch;
}

convert::QuantizeResult quantize(const RandomBert& bert, int threads, convert::Rounding rounding) {
  convert::FloatModel floats(bert.config, bert.weights, threads);
  convert::Workers workers(threads);
  convert::QuantizeOptions options;
  options.rounding = rounding;
  return convert::quantize_model(bert.config, bert.weights, floats, make_random_texts(bert, 300, 7),
                                 options, workers, {});
}

std::vector<std::uint8_t> blob_of(const RandomBert& bert, const convert::QuantizeResult& result) {
  convert::BlobExtras extras;
  extras.max_tokens = static_cast<std::uint32_t>(bert.config.first().max_position_embeddings);
  extras.labels = bert.config.label_names;
  return convert::write_blob(result.model, extras);
}

double worst_cosine(const RandomBert& bert, const std::vector<std::uint8_t>& blob) {
  const TokenBatch texts = make_random_texts(bert, 16, 99);
  convert::FloatModel floats(bert.config, bert.weights, 1);
  const std::vector<float> expected = floats.forward(texts).last_hidden_state;
  convert::IntegerModel integers(blob, {});
  const convert::TextVectors found = integers.encode(texts);
  double worst = 1;
  std::size_t token = 0;
  for (const std::int32_t length : texts.lengths) {
    std::vector<double> a(found.width), b(found.width);
    for (std::int32_t i = 0; i < length; ++i, ++token) {
      for (std::size_t c = 0; c < found.width; ++c) {
        a[c] += static_cast<double>(expected[token * found.width + c]);
        b[c] += found.row(token)[c] * found.scale;
      }
    }
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t c = 0; c < found.width; ++c) {
      ab += a[c] * b[c];
      aa += a[c] * a[c];
      bb += b[c] * b[c];
    }
    const bool zero = aa < 1e-12;
    worst = std::min(worst, zero ? (bb < 1e-6 ? 1.0 : 0.0) : ab / std::sqrt(aa * bb + 1e-300));
  }
  return worst;
}

}  // namespace embert::test
