// SPDX-License-Identifier: Apache-2.0
// The APB UART of Arm's FPGA boards (Cortex-M System Design Kit TRM, section 4.3).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "targets/cortex-m/registers.hpp"

namespace embert::board {

struct ApbUart {
  uintptr_t base;

  void start(uint32_t clock, uint32_t baud) const {
    at(base + 16) = clock / baud;
    at(base + 8) = 3;  // transmit, receive
  }
  uint8_t read() const {
    while ((at(base + 4) & 2) == 0) {
    }
    return static_cast<uint8_t>(at(base));
  }
  void write(const uint8_t* bytes, size_t count) const {
    for (size_t i = 0; i < count; ++i) {
      while ((at(base + 4) & 1) != 0) {
      }
      at(base) = bytes[i];
    }
  }
};

}  // namespace embert::board
