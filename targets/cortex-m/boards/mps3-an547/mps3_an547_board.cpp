// SPDX-License-Identifier: Apache-2.0
// Arm MPS3 with the image AN547 (Cortex-M55): UART 0 of the APB UARTs and the system counter.
#include "targets/cortex-m/board.hpp"

#include "targets/cortex-m/apb_uart.hpp"
#include "targets/cortex-m/semihosting.h"

namespace embert::board {
namespace {

constexpr uint32_t kPeripheralClock = 25000000;
constexpr ApbUart kUart = {0x59303000};
// SSE-300 TRM, system counter, control frame.
constexpr uintptr_t kCounterControl = 0x58100000, kCounterLow = 0x58100008,
                    kCounterHigh = 0x5810000c;

}  // namespace

const char* const kName = "mps3-an547";
const uint32_t kTicksPerSecond = 32000000;
const device::TickUnit kTickUnit = device::TickUnit::kNone;

void start() {
  kUart.start(kPeripheralClock, 115200);
  at(kCounterControl) = 1;
}

uint8_t read() { return kUart.read(); }
void write(const uint8_t* bytes, size_t count) { kUart.write(bytes, count); }

uint64_t ticks() {
  for (;;) {
    const uint32_t high = at(kCounterHigh), low = at(kCounterLow);
    if (high == at(kCounterHigh)) return uint64_t{high} << 32 | low;
  }
}

void stop() {
  semihosting_call(SEMIHOSTING_EXIT, SEMIHOSTING_REASON_ERROR);
  for (;;) {
  }
}

}  // namespace embert::board
