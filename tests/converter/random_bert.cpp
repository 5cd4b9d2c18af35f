// SPDX-License-Identifier: Apache-2.0
#include "tests/converter/random_bert.hpp"

#include <algorithm>
#include <cmath>

#include "converter/integer_model.hpp"
#include "converter/write_blob.hpp"

namespace embert::test {

using convert::TokenBatch;

RandomBert make_random_bert(std::uint64_t seed, int labels) {
  RandomBert bert;
  bert.config.stacks = {small_stack()};
  if (labels > 0) {
    bert.config.classifier = convert::ClassifierTask::kSequenceClassification;
    for (int i = 0; i < labels; ++i) bert.config.label_names.push_back(std::to_string(i));
  }
  bert.weights = random_weights(bert.config, seed);
  return bert;
}

TokenBatch make_random_texts(const RandomBert& bert, std::size_t texts, std::uint64_t seed) {
  return random_texts(bert.config.first(), texts, seed);
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
