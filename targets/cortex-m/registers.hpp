// SPDX-License-Identifier: Apache-2.0
// Access to a board's registers, and a 32-bit hardware counter extended to 64 bits.
#pragma once

#include <stdint.h>

namespace embert::board {

inline volatile uint32_t& at(uintptr_t address) {
  return *reinterpret_cast<volatile uint32_t*>(address);
}

/// Correct if it is read at least once in each turn of the hardware counter.
struct WideCounter {
  uint32_t last, wraps;

  uint64_t read(uintptr_t address) {
    const uint32_t now = at(address);
    wraps += now < last;
    last = now;
    return uint64_t{wraps} << 32 | now;
  }
};

}  // namespace embert::board
