// SPDX-License-Identifier: Apache-2.0
// Arm MPS3 with the image AN547 (Cortex-M55): UART 0 of the APB UARTs, and the system counter.
#include "targets/cortex-m/board.hpp"

#include "targets/cortex-m/semihosting.h"

namespace embert::board {
namespace {

volatile uint32_t& at(uintptr_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }

// Cortex-M System Design Kit TRM, section 4.3: the APB UART.
constexpr uintptr_t kUart = 0x59303000;
constexpr uintptr_t kUartData = kUart, kUartState = kUart + 4, kUartControl = kUart + 8,
                    kUartBaud = kUart + 16;
constexpr uint32_t kUartFull = 1, kUartHasByte = 2;
// SSE-300 TRM, system counter, control frame.
constexpr uintptr_t kCounter = 0x58100000;
constexpr uintptr_t kCounterControl = kCounter, kCounterLow = kCounter + 8,
                    kCounterHigh = kCounter + 12;

constexpr uint32_t kPeripheralClock = 25000000, kBaud = 115200;

}  // namespace

const char* const kName = "mps3-an547";
const uint32_t kTicksPerSecond = 32000000;

void start() {
  at(kUartBaud) = kPeripheralClock / kBaud;
  at(kUartControl) = 3;  // transmit, receive
  at(kCounterControl) = 1;
}

uint8_t read() {
  while ((at(kUartState) & kUartHasByte) == 0) {
  }
  return static_cast<uint8_t>(at(kUartData));
}

void write(const uint8_t* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    while ((at(kUartState) & kUartFull) != 0) {
    }
    at(kUartData) = bytes[i];
  }
}

uint64_t cycles() {
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
