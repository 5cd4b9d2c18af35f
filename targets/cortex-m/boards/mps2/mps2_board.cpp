// SPDX-License-Identifier: Apache-2.0
// Arm MPS2 with the image AN386 (Cortex-M4) or AN500 (Cortex-M7). Addresses: MPS2 TRM, FPGA system
// control and I/O registers.
#include "targets/cortex-m/board.hpp"
#include "targets/cortex-m/mps2_image.hpp"

namespace embert::board {

const char* const kName = "mps2";
const uint32_t kTicksPerSecond = 25000000;
const Mps2Image kImage = {.uart = {0x40004000}, .counter = 0x40028018};

}  // namespace embert::board
