// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/common/decoding_options.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "embert/embert_lm.h"
#include "targets/hosted/hosted_error.hpp"

namespace embert::hosted {
namespace {

uint32_t next_random(void* context) {
  return static_cast<uint32_t>((*static_cast<std::mt19937*>(context))());
}

void check_range(const char* name, double value, double lowest, double highest) {
  if (value >= lowest && value <= highest) return;  // not a number is refused, too
  throw UsageError(std::string(name) + " " + std::to_string(value) + ": it takes " +
                   std::to_string(lowest) + " to " + std::to_string(highest));
}

}  // namespace

void DecodingOptions::check() const {
  check_range("max-new-tokens", max_new_tokens, 1, 512);
  check_range("beams", beams, 1, 64);
  check_range("temperature", temperature, 0.001, 1000);
  check_range("top-p", top_p, 0, 1);
  check_range("top-k", top_k, 1, 65536);
  if (sample && beams > 1) throw UsageError("beams and sample exclude each other");
}

embert_generate_options DecodingOptions::for_model(const embert_model& model,
                                                   std::mt19937& random) const {
  embert_generate_options options = embert_generate_options_default(&model);
  options.max_new_tokens = max_new_tokens;
  options.beams = beams;
  if (!sample) return options;
  options.random = next_random;
  options.random_context = &random;
  options.temperature_q16 = static_cast<uint32_t>(std::lround(temperature * 65536));
  options.top_p = std::max(1u, static_cast<embert_q30>(std::lround(top_p * EMBERT_Q30_ONE)));
  options.top_k = top_k;
  return options;
}

}  // namespace embert::hosted
