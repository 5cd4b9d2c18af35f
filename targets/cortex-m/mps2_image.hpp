// SPDX-License-Identifier: Apache-2.0
// An FPGA image of Arm's MPS2 boards. All have the same UART and counter, at addresses of their
// own and with one clock: mps2_image.cpp implements board.hpp for a board whose file defines kName,
// kTicksPerSecond and kImage.
#pragma once

#include <stdint.h>

#include "targets/cortex-m/apb_uart.hpp"

namespace embert::board {

struct Mps2Image {
  ApbUart uart;       ///< UART 0
  uintptr_t counter;  ///< COUNTER of the FPGA's I/O registers; its prescaler lies behind it
};
extern const Mps2Image kImage;

}  // namespace embert::board
