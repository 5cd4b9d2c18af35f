// SPDX-License-Identifier: Apache-2.0
// Seeded random weights for any config of the family. The same seed gives the same on every
// machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/token_batch.hpp"

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

/// hidden 32, 2 heads, intermediate 64, 3 layers, 50 tokens, 24 positions, 2 segments.
convert::StackConfig small_stack();

/// Weights that fit `config`; always with a pooler on a model of one stack.
convert::ModelWeights random_weights(const convert::ModelConfig& config, std::uint64_t seed);

/// Texts of 1 to max_position_embeddings tokens, every second with two segments where the stack
/// knows more than one.
convert::TokenBatch random_texts(const convert::StackConfig& stack, std::size_t texts,
                                 std::uint64_t seed);

}  // namespace embert::test
