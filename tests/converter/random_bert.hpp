// SPDX-License-Identifier: Apache-2.0
// A small BERT encoder with seeded random weights, and its way through quantisation to a blob.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "converter/quantize_model.hpp"
#include "tests/converter/random_model.hpp"

namespace embert::test {

struct RandomBert {
  convert::ModelConfig config;
  convert::ModelWeights weights;
};

/// small_stack() with pooler and, where labels > 0, classifier.
RandomBert make_random_bert(std::uint64_t seed, int labels = 0);

/// random_texts() for its stack.
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
