// SPDX-License-Identifier: Apache-2.0
// Registers of a board, and a counter of 32 bits that goes on to 64.
#pragma once

#include <stdint.h>

namespace embert::board {

inline volatile uint32_t& at(uintptr_t address) {
  return *reinterpret_cast<volatile uint32_t*>(address);
}

/// Right as long as it is read once in each turn of the counter.
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
