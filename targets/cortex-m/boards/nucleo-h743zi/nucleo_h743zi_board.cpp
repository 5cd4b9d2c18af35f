// SPDX-License-Identifier: Apache-2.0
// ST NUCLEO-H743ZI (STM32H743, Cortex-M7): USART3, which the board's debugger shows to the desktop
// as a serial port, and the core's cycle counter. The clock stays as after reset: HSI at 64 MHz.
// Registers: RM0433; those of the core: ARMv7-M Architecture Reference Manual.
#include "targets/cortex-m/board.hpp"

#include "targets/cortex-m/registers.hpp"

namespace embert::board {
namespace {

constexpr uint32_t kClock = 64000000, kBaud = 115200;

constexpr uintptr_t kRcc = 0x58024400, kAhb4Enable = kRcc + 0xe0, kApb1LowEnable = kRcc + 0xe8;
constexpr uint32_t kEnableGpioD = 1u << 3, kEnableUsart3 = 1u << 18;
constexpr uintptr_t kGpioD = 0x58020c00, kMode = kGpioD, kAlternateHigh = kGpioD + 0x24;
constexpr uintptr_t kUsart3 = 0x40004800, kControl1 = kUsart3, kBaudRate = kUsart3 + 0x0c,
                    kState = kUsart3 + 0x1c, kReceived = kUsart3 + 0x24, kTransmit = kUsart3 + 0x28;
constexpr uintptr_t kClearFlags = kUsart3 + 0x20;
constexpr uint32_t kHasByte = 1u << 5, kHasRoom = 1u << 7, kOverrun = 1u << 3;

constexpr uintptr_t kInstructionCacheInvalidate = 0xe000ef50, kConfiguration = 0xe000ed14;
constexpr uint32_t kInstructionCache = 1u << 17;
constexpr uintptr_t kDebugControl = 0xe000edfc, kTraceControl = 0xe0001000,
                    kTraceCycles = 0xe0001004, kTraceLock = 0xe0001fb0;

void start_instruction_cache() {
  at(kInstructionCacheInvalidate) = 0;
  __asm__ volatile("dsb\n isb" ::: "memory");
  at(kConfiguration) |= kInstructionCache;
  __asm__ volatile("dsb\n isb" ::: "memory");
}

void start_cycle_counter() {
  at(kDebugControl) |= 1u << 24;
  at(kTraceLock) = 0xc5acce55;
  at(kTraceCycles) = 0;
  at(kTraceControl) |= 1;
}

// USART3 uses the pins PD8 and PD9 as alternate function 7.
void start_serial_port() {
  at(kAhb4Enable) |= kEnableGpioD;
  at(kApb1LowEnable) |= kEnableUsart3;
  [[maybe_unused]] const uint32_t later = at(kApb1LowEnable);  // two cycles for the clock to start
  at(kMode) = (at(kMode) & ~(0xfu << 16)) | 0xau << 16;
  at(kAlternateHigh) = (at(kAlternateHigh) & ~0xffu) | 0x77u;
  at(kBaudRate) = (kClock + kBaud / 2) / kBaud;
  at(kControl1) = 1u << 0 | 1u << 2 | 1u << 3;  // enables USART, receiver, transmitter
}

WideCounter counter;

}  // namespace

const char* const kName = "nucleo-h743zi";
const uint32_t kTicksPerSecond = kClock;
const device::TickUnit kTickUnit = device::TickUnit::kCycles;

void start() {
  start_instruction_cache();
  start_cycle_counter();
  start_serial_port();
}

uint8_t read() {
  for (;;) {
    const uint32_t state = at(kState);
    if ((state & kOverrun) != 0) at(kClearFlags) = kOverrun;  // the frame's CRC shows the loss
    if ((state & kHasByte) != 0) return static_cast<uint8_t>(at(kReceived));
  }
}

void write(const uint8_t* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    while ((at(kState) & kHasRoom) == 0) {
    }
    at(kTransmit) = bytes[i];
  }
}

/// The hardware counter has 32 bits: correct if a text takes less than 67 seconds.
uint64_t ticks() { return counter.read(kTraceCycles); }

void stop() {
  for (;;) __asm__ volatile("wfi");
}

}  // namespace embert::board
