// SPDX-License-Identifier: Apache-2.0
// Which kernel variants the tests can run here, and a loop over them. EMBERT_KERNEL rows of
// variants.inc are the only list: a variant in it can not stay untested.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "kernels/variants.hpp"

namespace embert {

/// The clusters of this machine and build, as a mask.
uint32_t runnable_isas();
/// Says on the test's output that a variant is left out, once a variant.
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
#define EMBERT_KERNEL(operation, type_name, kernel, cluster)                            \
  if constexpr (std::is_same_v<type_name, Fn> && static_cast<uint32_t>(cluster) != 0) { \
    if ((isas & cluster) != 0) {                                                        \
      visit(KernelVariant<Fn>{#kernel, kernel, cluster});                               \
    } else {                                                                            \
      report_missing_isa(#kernel, cluster);                                             \
    }                                                                                   \
  }
#include "kernels/variants.inc"
#undef EMBERT_KERNEL
  static_cast<void>(isas);
  static_cast<void>(visit);
}

}  // namespace embert
