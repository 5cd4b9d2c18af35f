// SPDX-License-Identifier: Apache-2.0
// Arm MPS2+ with the image AN505 (Cortex-M33): UART 0 and the counter in the FPGA's registers, at
// their secure addresses, because the processor is in secure state after reset.
#include "targets/cortex-m/board.hpp"

#include "targets/cortex-m/apb_uart.hpp"
#include "targets/cortex-m/semihosting.h"

namespace embert::board {
namespace {

constexpr uint32_t kPeripheralClock = 20000000;
constexpr ApbUart kUart = {0x50200000};
// Application Note AN505, FPGA system control and I/O registers.
constexpr uintptr_t kCounter = 0x50302018, kCounterPrescale = 0x5030201c;

WideCounter counter;

}  // namespace

const char* const kName = "mps2-an505";
const uint32_t kTicksPerSecond = 20000000;
const device::TickUnit kTickUnit = device::TickUnit::kNone;

void start() {
  kUart.start(kPeripheralClock, 115200);
  at(kCounterPrescale) = 0;
}

uint8_t read() { return kUart.read(); }
void write(const uint8_t* bytes, size_t count) { kUart.write(bytes, count); }

/// The hardware counter has 32 bits: correct if a text takes less than 214 seconds.
uint64_t ticks() { return counter.read(kCounter); }

void stop() {
  semihosting_call(SEMIHOSTING_EXIT, SEMIHOSTING_REASON_ERROR);
  for (;;) {
  }
}

}  // namespace embert::board
