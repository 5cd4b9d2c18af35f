// SPDX-License-Identifier: Apache-2.0
// Small BERT models with seeded random weights, and their way through quantisation to a blob.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "converter/quantize_model.hpp"
#include "converter/read_weights.hpp"

namespace embert::test {

/// splitmix64; uniform in [-1, 1).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  float next();
  std::size_t below(std::size_t count);

 private:
  std::uint64_t bits();
  std::uint64_t state_;
};

convert::Matrix random_matrix(Random& random, std::size_t rows, std::size_t cols, float scale);

struct RandomBert {
  convert::ModelConfig config;
  convert::ModelWeights weights;
};

/// hidden 32, 2 heads, intermediate 64, 3 layers, 50 tokens, 24 positions, 2 segments; with pooler
/// and, where labels > 0, classifier.
RandomBert make_random_bert(std::uint64_t seed, int labels = 0);

/// Texts of 1 to 24 tokens with both segments.
convert::TokenBatch make_random_texts(const RandomBert& bert, std::size_t texts,
                                      std::uint64_t seed);

/// Calibrated on 300 texts.
convert::QuantizeResult quantize(const RandomBert& bert, int threads = 1,
                                 convert::Rounding rounding = convert::Rounding::kErrorCompensated);

/// Blob without tokenizer.
std::vector<std::uint8_t> blob_of(const RandomBert& bert, const convert::QuantizeResult& result);

/// Smallest cosine, over 16 texts, of the mean hidden state to that of the float model. A float
/// vector of zeros counts as 1 where the runtime's is zero, too.
double worst_cosine(const RandomBert& bert, const std::vector<std::uint8_t>& blob);

}  // namespace embert::test
