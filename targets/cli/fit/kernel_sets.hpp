// SPDX-License-Identifier: Apache-2.0
// The sets of kernels that a library for ARM is built with: the flash and the stack that a firmware
// takes with each, and the instructions of its work. All numbers were measured on emulated
// processors (tests/bench/fit_costs.py).
#pragma once

#include <cstdint>
#include <span>

#include "targets/cli/fit/model_work.hpp"

namespace embert::cli {

/// By embert_tokenizer_type: WordPiece, Unigram, BPE.
inline constexpr size_t kTokenizers = 3;

struct KernelSet {
  const char* isa;              ///< the last word of its kernels' names
  const char* processors;       ///< that run it
  bool bare_metal;              ///< of firmware; else of a program for Linux
  uint32_t code[kTokenizers];   ///< bytes of code and tables
  uint32_t variables;           ///< bytes, beside those that a firmware's memory block holds
  uint32_t stack[kTokenizers];  ///< bytes, at most; 0: Linux gives the stack
  ModelWork instructions;       ///< of each kind of work
};

std::span<const KernelSet> kernel_sets();

/// The instructions of the tokenizer, and of the scores of a classifier's labels. Both are small,
/// and differ little between processors.
double text_instructions(uint32_t tokens, uint32_t labels);

/// The instructions of the work, from ids to the answer.
double instructions_of(const KernelSet& kernels, const ModelWork& work);

}  // namespace embert::cli
