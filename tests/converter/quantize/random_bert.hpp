// SPDX-License-Identifier: Apache-2.0
// Any member of the family with seeded random weights: quantised, written as a blob, run by the
// runtime.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "converter/quantize/quantize_model.hpp"
#include "converter/verify/verify.hpp"
#include "tests/converter/quantize/random_weights.hpp"

namespace embert::test {

struct RandomBert {
  RandomBert(const convert::ModelConfig& of, std::uint64_t seed)
      : config(of), weights(random_weights(of, seed)) {}

  convert::ModelConfig config;
  convert::ModelWeights weights;
};

/// An encoder of small_stack() with pooler and, where labels > 0, classifier.
RandomBert random_encoder(std::uint64_t seed, int labels = 0);

/// Calibrated on 200 random texts.
convert::QuantizeResult quantize(const RandomBert& bert, int threads = 1,
                                 const convert::QuantizeOptions& options = {});

/// Blob without tokenizer.
std::vector<std::uint8_t> blob_of(const RandomBert& bert, const convert::QuantizeResult& result);

/// Compares the runtime with the float model on 24 other texts.
convert::VerifyResult agreement(const RandomBert& bert, std::span<const std::uint8_t> blob);
convert::VerifyResult agreement(const RandomBert& bert);

}  // namespace embert::test
