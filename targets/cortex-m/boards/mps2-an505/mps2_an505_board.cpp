// SPDX-License-Identifier: Apache-2.0
// Arm MPS2+ with the image AN505 (Cortex-M33), Application Note AN505. The addresses are the secure
// ones, because the processor is in secure state after reset.
#include "targets/cortex-m/board.hpp"
#include "targets/cortex-m/mps2_image.hpp"

namespace embert::board {

const char* const kName = "mps2-an505";
const uint32_t kTicksPerSecond = 20000000;
const Mps2Image kImage = {.uart = {0x50200000}, .counter = 0x50302018};

}  // namespace embert::board
