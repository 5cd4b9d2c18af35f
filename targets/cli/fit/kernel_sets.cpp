// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/fit/kernel_sets.hpp"

namespace embert::cli {
namespace {

constexpr KernelSet kKernelSets[] = {
#include "targets/cli/fit/kernel_sets.inc"
};

}  // namespace

std::span<const KernelSet> kernel_sets() { return kKernelSets; }

double text_instructions(uint32_t tokens, uint32_t labels) {
  // Of the firmware for Cortex-M4, less encode_passes: 0.079 million at 31 tokens and 151 labels.
  constexpr double kOfToken = 400, kOfLabel = 440;
  return tokens * kOfToken + labels * kOfLabel;
}

double instructions_of(const KernelSet& kernels, const ModelWork& work) {
  double sum = 0;
  for (size_t kind = 0; kind < kWorkKinds; ++kind) sum += work[kind] * kernels.instructions[kind];
  return sum;
}

}  // namespace embert::cli
