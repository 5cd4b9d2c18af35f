// SPDX-License-Identifier: Apache-2.0
// The functions that firmware.cpp needs of a board: a serial port and a clock. Each folder in
// boards/ implements them.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "targets/device/protocol.hpp"

namespace embert::board {

extern const char* const kName;
extern const uint32_t kTicksPerSecond;    ///< 0: not known
extern const device::TickUnit kTickUnit;  ///< of ticks()

/// Starts clocks, serial port and tick counter. Called once, before all others.
void start();
/// Waits for a byte of the serial port.
uint8_t read();
void write(const uint8_t* bytes, size_t count);
/// Returns the ticks of the board's or the processor's clock since start().
uint64_t ticks();
/// Halts the board. The firmware has written the reason before.
[[noreturn]] void stop();

}  // namespace embert::board
