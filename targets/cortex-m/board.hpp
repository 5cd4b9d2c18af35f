// SPDX-License-Identifier: Apache-2.0
// What firmware.cpp wants of a board: a line, a clock. Each board's folder has its own.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "targets/device/protocol.hpp"

namespace embert::board {

extern const char* const kName;
extern const uint32_t kTicksPerSecond;  ///< 0: not known
extern const device::TickUnit kTickUnit;

/// Clocks, the line, the tick counter. Called once, first of all.
void start();
/// Waits for a byte of the line.
uint8_t read();
void write(const uint8_t* bytes, size_t count);
/// Of the board's clock or the processor's, since start().
uint64_t ticks();
/// Nothing works any more: `reason` is on the line already.
[[noreturn]] void stop();

}  // namespace embert::board
