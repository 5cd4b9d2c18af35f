// SPDX-License-Identifier: Apache-2.0
// How a decoder picks the next token: the best, one drawn, or by beam search.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <random>

#include "embert/embert_lm.h"

namespace embert::cli {

struct DecodingOptions {
  uint32_t max_new_tokens = 20, beams = 1;
  bool sample = false;
  double temperature = 1, top_p = 1;
  uint32_t top_k = 50, seed = 0;

  void add_to(CLI::App& command);
  /// As the library takes them; `random`, which is drawn from, must live as long.
  embert_generate_options of(const embert_model& model, std::mt19937& random) const;
};

}  // namespace embert::cli
