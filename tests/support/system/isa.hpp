// SPDX-License-Identifier: Apache-2.0
// The kernel variants that this machine can run, and a loop over them. The loop reads
// variants.inc, so no variant in that list stays untested.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "kernels/variants.hpp"

namespace embert {

/// The ISA extensions that this machine and this build have, as a mask.
uint32_t runnable_isas();
/// Prints, once for each variant, that it is left out.
void report_missing_isa(const char* variant, uint32_t isa);

template <typename Fn>
struct KernelVariant {
  const char* name;
  Fn function;
  uint32_t isa;
};

/// Calls visit(KernelVariant<Fn>) for each variant of an operation except the scalar one.
template <typename Fn, typename Visit>
void for_each_variant(Visit visit) {
  const uint32_t isas = runnable_isas();
#define EMBERT_KERNEL(operation, type_name, kernel, isa)                            \
  if constexpr (std::is_same_v<type_name, Fn> && static_cast<uint32_t>(isa) != 0) { \
    if ((isas & isa) != 0) {                                                        \
      visit(KernelVariant<Fn>{#kernel, kernel, isa});                               \
    } else {                                                                        \
      report_missing_isa(#kernel, isa);                                             \
    }                                                                               \
  }
#include "kernels/variants.inc"
#undef EMBERT_KERNEL
  static_cast<void>(isas);
  static_cast<void>(visit);
}

}  // namespace embert
