// SPDX-License-Identifier: Apache-2.0
// The options for how a decoder chooses the next token: greedily, by sampling or by beam search.
#pragma once

#include <cstdint>
#include <random>

#include "embert/embert_lm.h"

namespace embert::hosted {

struct DecodingOptions {
  uint32_t max_new_tokens = 20, beams = 1;
  bool sample = false;
  double temperature = 1, top_p = 1;
  uint32_t top_k = 50, seed = 0;

  /// Throws UsageError for a value out of range, or for options that exclude each other.
  void check() const;
  /// Converts the options for the library. Sampling draws from `random`, which must outlive the
  /// result.
  embert_generate_options for_model(const embert_model& model, std::mt19937& random) const;
};

}  // namespace embert::hosted
