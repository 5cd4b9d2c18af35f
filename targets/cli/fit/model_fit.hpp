// SPDX-License-Identifier: Apache-2.0
// Whether a model fits flash and RAM with a set of kernels, and what to change if it does not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "targets/cli/fit/board_table.hpp"
#include "targets/cli/fit/kernel_sets.hpp"
#include "targets/cli/fit/model_work.hpp"

namespace embert::cli {

struct FitLimits {
  uint64_t flash;  ///< bytes; 0: no limit
  uint64_t ram;    ///< bytes
};

/// The bytes that a firmware takes with a set of kernels; of Linux those of a program.
struct MemoryNeed {
  size_t code, model;  ///< flash
  size_t loaded_model, arena, buffers, variables,
      stack;  ///< RAM; firmware reads the model in place

  size_t flash() const { return code + model; }
  size_t ram() const { return loaded_model + arena + buffers + variables + stack; }
  bool fits(const FitLimits& limits) const {
    return (limits.flash == 0 || flash() <= limits.flash) && ram() <= limits.ram;
  }
};

MemoryNeed memory_need(const FitModel& model, const KernelSet& kernels);

/// The largest number of tokens whose texts fit the RAM; 0: not even one token does.
uint32_t most_tokens(const FitModel& model, const KernelSet& kernels, uint64_t ram);

/// The flash that a change of the conversion would save, from the sizes of the sections; the
/// converter's own summary is exact.
struct Savings {
  std::optional<size_t> embeddings_4bit;  ///< bytes; nothing: they have 4 bits, or too few columns
  size_t vocabulary = 0;                  ///< tokens; 0: the model has no tokenizer
  double bytes_of_token = 0;              ///< of embeddings and tokenizer
};
Savings possible_savings(const FitModel& model);

/// Sentences that say what to change so that the model fits; none if it does.
std::vector<std::string> remedies(const FitModel& model, const KernelSet& kernels,
                                  const FitLimits& limits);

}  // namespace embert::cli
