// SPDX-License-Identifier: Apache-2.0
// The sets of ISA extensions that tests compare on this machine.
#pragma once

#include <cstdint>
#include <cstdio>
#include <vector>

#include "embert/embert.h"
#include "kernels/dispatch.hpp"
#include "kernels/processor.hpp"

namespace embert {

/// Scalar, then each ISA extension of this processor family together with those that it builds on.
/// Prints the ones that the machine lacks and leaves them out.
inline std::vector<std::uint32_t> isa_masks() {
  std::vector<std::uint32_t> masks = {EMBERT_ISA_SCALAR};
#if EMBERT_X86
  const std::uint32_t ladder[] = {EMBERT_ISA_AVX2, EMBERT_ISA_AVX2 | EMBERT_ISA_AVXVNNI,
                                  EMBERT_ISA_AVX2 | EMBERT_ISA_AVX512VNNI};
#elif EMBERT_AARCH64
  const std::uint32_t ladder[] = {EMBERT_ISA_NEON, EMBERT_ISA_NEON | EMBERT_ISA_DOTPROD,
                                  EMBERT_ISA_NEON | EMBERT_ISA_DOTPROD | EMBERT_ISA_I8MM};
#else
  const std::vector<std::uint32_t> ladder(compiled_isas() != 0, compiled_isas());  // at most one
#endif
  for (const std::uint32_t mask : ladder) {
    if ((mask & ~embert_isa_detect()) == 0) {
      masks.push_back(mask);
    } else {
      std::printf("[  NOTICE  ] NOT TESTED: this machine has no %s\n", embert_isa_name(mask));
    }
  }
  return masks;
}

}  // namespace embert
