// SPDX-License-Identifier: Apache-2.0
#include "targets/cortex-m/mps2_image.hpp"

#include "targets/cortex-m/board.hpp"
#include "targets/cortex-m/semihosting.h"

namespace embert::board {
namespace {

WideCounter counter;

}  // namespace

const device::TickUnit kTickUnit = device::TickUnit::kNone;

void start() {
  kImage.uart.start(kTicksPerSecond, 115200);
  at(kImage.counter + 4) = 0;  // prescaler: each clock counts
}

uint8_t read() { return kImage.uart.read(); }
void write(const uint8_t* bytes, size_t count) { kImage.uart.write(bytes, count); }

/// The hardware counter has 32 bits: correct if a text takes less than 171 seconds.
uint64_t ticks() { return counter.read(kImage.counter); }

void stop() {
  semihosting_call(SEMIHOSTING_EXIT, SEMIHOSTING_REASON_ERROR);
  for (;;) {
  }
}

}  // namespace embert::board
