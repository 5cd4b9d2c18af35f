// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/tasks/decoding_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "embert/embert_lm.h"

namespace embert::cli {
namespace {

uint32_t next_random(void* context) {
  return static_cast<uint32_t>((*static_cast<std::mt19937*>(context))());
}

/// Like CLI::Range, but refuses "nan".
CLI::Validator in_range(double lowest, double highest) {
  return CLI::Validator(
      [=](const std::string& text) {
        double value = 0;
        const bool ok =
            CLI::detail::lexical_cast(text, value) && value >= lowest && value <= highest;
        return ok ? std::string()
                  : text + " is not between " + std::to_string(lowest) + " and " +
                        std::to_string(highest);
      },
      "");
}

}  // namespace

void DecodingOptions::add_to(CLI::App& command) {
  command.add_option("--max-new-tokens", max_new_tokens, "Most tokens to make")
      ->check(CLI::Range(1, 512))
      ->type_name("N")
      ->capture_default_str();
  auto* by_beams = command.add_option("--beams", beams, "Sequences that a beam search follows")
                       ->check(CLI::Range(1, 64))
                       ->type_name("N")
                       ->capture_default_str();
  auto* by_drawing = command.add_flag("--sample", sample, "Draw each token by its score");
  by_beams->excludes(by_drawing);
  command.add_option("--temperature", temperature, "Logits are divided by it, 0.001 to 1000")
      ->check(in_range(0.001, 1000))
      ->needs(by_drawing)
      ->type_name("T")
      ->capture_default_str();
  command.add_option("--top-k", top_k, "Draw from the K best")
      ->check(CLI::Range(1, 65536))
      ->needs(by_drawing)
      ->type_name("K")
      ->capture_default_str();
  command.add_option("--top-p", top_p, "... and of those the fewest that reach P")
      ->check(in_range(0, 1))
      ->needs(by_drawing)
      ->type_name("P")
      ->capture_default_str();
  command.add_option("--seed", seed, "The same seed draws the same tokens; 0 to 4294967295")
      ->needs(by_drawing)
      ->type_name("N")
      ->capture_default_str();
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

}  // namespace embert::cli
