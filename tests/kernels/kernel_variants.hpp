// SPDX-License-Identifier: Apache-2.0
// The kernel variants of an operation that this machine can run.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels/dispatch.hpp"
#include "kernels/variants.hpp"
#include "tests/support/system/isa_masks.hpp"

namespace embert {

template <typename Fn>
struct KernelVariant {
  const char* name;
  Fn function;
  uint32_t isa;
};

/// Prints, once for each variant, that it is left out.
void report_missing_isa(const char* variant, uint32_t isa);

/// Has the program print at its start how it runs the kernels of which ISA extensions:
/// "native: scalar avx2". tests/run.sh reads these lines.
bool announce_kernels(const char* how, uint32_t isas);

/// All rows of variants.inc for one operation, the scalar kernel first. A test covers an operation
/// by this call with its name, variants_of(&Kernels::softmax): lint_kernels looks for it.
template <typename Fn>
std::vector<KernelVariant<Fn>> variants_of(Fn Kernels::*operation) {
  std::vector<KernelVariant<Fn>> found;
  const uint32_t isas = runnable_isas();
#define EMBERT_KERNEL(row_operation, type_name, kernel, extension) \
  if constexpr (std::is_same_v<type_name, Fn>) {                   \
    if (operation == &Kernels::row_operation) {                    \
      if ((isas & extension) == extension) {                       \
        found.push_back({#kernel, kernel, extension});             \
      } else {                                                     \
        report_missing_isa(#kernel, extension);                    \
      }                                                            \
    }                                                              \
  }
#include "kernels/variants.inc"
#undef EMBERT_KERNEL
  return found;
}

/// The orders of the right operand that the kernels of an extension read.
inline std::vector<RhsOrder> orders_of(uint32_t isa) {
  if ((isa & kIsaI8mm) != 0) return {RhsOrder::kN16K4, RhsOrder::kN8K16};
  return {RhsOrder::kN16K4};
}
/// n columns of k inputs in n16k4 to n8k16.
inline void to_n8k16(const int8_t* n16k4, size_t n, size_t k, int8_t* n8k16) {
  for (size_t j = 0; j < n; ++j) {
    for (size_t c = 0; c < k; ++c) n8k16[n8k16_index(j, c, k)] = n16k4[n16k4_index(j, c, k)];
  }
}

}  // namespace embert
