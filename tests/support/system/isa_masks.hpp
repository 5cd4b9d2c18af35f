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

/// The ISA extensions that this machine has and this build has kernels for. Kernels for free vector
/// pipes run wherever their instructions do.
inline std::uint32_t runnable_isas() {
  const std::uint32_t isas = embert_isa_detect();
  return (isas & kIsaAvx512Vnni) != 0 ? isas | kIsaAvx512FreePipes : isas;
}

/// Scalar, then each ISA extension of this processor family together with those that it builds on;
/// AVX512-VNNI without free pipes and with them.
/// Prints the ones that the machine lacks and leaves them out.
inline std::vector<std::uint32_t> isa_masks() {
  std::vector<std::uint32_t> masks = {EMBERT_ISA_SCALAR};
  for (const IsaExtension& extension : kIsaExtensions) {
    if ((compiled_isas() & extension.isa) == 0) continue;
    const std::uint32_t mask = extension.isa | extension.base;
    if ((mask & ~embert_isa_detect()) == 0) {
      masks.push_back(mask);
    } else {
      std::printf("[  NOTICE  ] NOT TESTED: this machine has no %s\n", extension.name);
    }
  }
  const std::uint32_t free_pipes = kIsaAvx2 | kIsaAvx512FreePipes;
  if ((free_pipes & ~runnable_isas()) == 0) masks.push_back(free_pipes);
  return masks;
}

}  // namespace embert
