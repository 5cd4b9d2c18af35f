// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/fit/board_table.hpp"

#include "targets/cli/tool_error.hpp"
#include "targets/cli/usage/suggestion.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::cli {
namespace {

constexpr uint64_t kKilo = 1024, kMega = 1024 * kKilo, kGiga = 1024 * kMega;

// No board was measured. A core that waits for flash or memory takes longer than this.
constexpr Core kCores[] = {
    {"Cortex-M4", 1.2, "an instruction a cycle, two for loads and branches"},
    {"Cortex-M33", 1.2, "an instruction a cycle, two for loads and branches"},
    {"Cortex-M7", 0.8, "two instructions a cycle at best, one of them a product"},
    {"Cortex-M55", 1.6, "a vector instruction takes two cycles, and some overlap"},
    {"Cortex-A53", 1.0, "in order, a 128-bit multiplication takes two cycles"},
    {"Cortex-A72", 0.7, "out of order, one 128-bit multiplication a cycle"},
    {"Cortex-A76", 0.5, "out of order, two 128-bit multiplications a cycle"},
};

// flash and ram are those that one image can use: of several memories the largest block in a row.
// source names the document that has the numbers. They were written down without it at hand and
// still have to be compared with it.
constexpr Board kBoards[] = {
    {.name = "nucleo-h743zi",
     .core = "Cortex-M7",
     .isa = "dsp",
     .mhz = 480,
     .flash = 2 * kMega,
     .ram = 512 * kKilo,  // AXI SRAM
     .source = "STM32H743xI data sheet DS12110 Rev 10; the firmware of this tree runs at 64 MHz"},
    {.name = "nucleo-f746zg",
     .core = "Cortex-M7",
     .isa = "dsp",
     .mhz = 216,
     .flash = 1 * kMega,
     .ram = 320 * kKilo,  // DTCM, SRAM1 and SRAM2 in a row
     .source = "STM32F746xx data sheet DS10916 Rev 5"},
    {.name = "teensy-4.1",
     .core = "Cortex-M7",
     .isa = "dsp",
     .mhz = 600,
     .flash = 7936 * kKilo,  // of 8 MB
     .ram = 512 * kKilo,     // OCRAM
     .source = "i.MX RT1060 data sheet IMXRT1060CEC Rev. 4; flash: PJRC, Teensy 4.1"},
    {.name = "stm32f4-discovery",
     .core = "Cortex-M4",
     .isa = "dsp",
     .mhz = 168,
     .flash = 1 * kMega,
     .ram = 128 * kKilo,  // SRAM1 and SRAM2 in a row
     .source = "STM32F407xx data sheet DS8626 Rev 12"},
    {.name = "nrf52840-dk",
     .core = "Cortex-M4",
     .isa = "dsp",
     .mhz = 64,
     .flash = 1 * kMega,
     .ram = 256 * kKilo,
     .source = "nRF52840 Product Specification v1.7"},
    {.name = "nrf5340-dk",
     .core = "Cortex-M33",
     .isa = "dsp",
     .mhz = 128,
     .flash = 1 * kMega,
     .ram = 512 * kKilo,
     .source = "nRF5340 Product Specification v1.3, application core"},
    {.name = "b-u585i-iot02a",
     .core = "Cortex-M33",
     .isa = "dsp",
     .mhz = 160,
     .flash = 2 * kMega,
     .ram = 768 * kKilo,  // SRAM1 to SRAM3 in a row
     .source = "STM32U585xx data sheet DS13086 Rev 10"},
    {.name = "raspberry-pi-pico-2",
     .core = "Cortex-M33",
     .isa = "dsp",
     .mhz = 150,
     .flash = 4 * kMega,  // read in place over QSPI
     .ram = 520 * kKilo,
     .source = "RP2350 data sheet, build of 2024-08-08; flash: Raspberry Pi Pico 2 data sheet"},
    {.name = "nucleo-n657x0-q",
     .core = "Cortex-M55",
     .isa = "mve",
     .mhz = 600,
     .flash = 64 * kMega,  // external, read in place
     .ram = 1 * kMega,     // AXISRAM2
     .source = "STM32N657xx data sheet DS14791 Rev 9; flash: UM3417 Rev 3"},
    {.name = "mps2-an386",
     .core = "Cortex-M4",
     .isa = "dsp",
     .mhz = 25,
     .flash = 4 * kMega,  // SSRAM1
     .ram = 2 * kMega,    // of SSRAM2 and 3
     .source = "Arm Application Note AN386; emulated by QEMU"},
    {.name = "mps2-an500",
     .core = "Cortex-M7",
     .isa = "dsp",
     .mhz = 25,
     .flash = 4 * kMega,
     .ram = 2 * kMega,
     .source = "Arm Application Note AN500; emulated by QEMU"},
    {.name = "mps2-an505",
     .core = "Cortex-M33",
     .isa = "scalar",  // its core has no DSP instructions
     .mhz = 20,
     .flash = 4 * kMega,  // SSRAM1
     .ram = 2 * kMega,    // SSRAM2
     .source = "Arm Application Note AN505; emulated by QEMU"},
    {.name = "mps3-an547",
     .core = "Cortex-M55",
     .isa = "mve",
     .mhz = 32,
     .flash = 2 * kMega,  // block RAM
     .ram = 2 * kMega,    // SRAM of the subsystem
     .source = "Arm Application Note AN547; emulated by QEMU"},
    {.name = "raspberry-pi-zero-2w",
     .core = "Cortex-A53",
     .isa = "neon",
     .mhz = 1000,
     .flash = 0,
     .ram = 512 * kMega,
     .source = "Raspberry Pi Zero 2 W Product Brief, October 2021"},
    {.name = "raspberry-pi-4b",
     .core = "Cortex-A72",
     .isa = "neon",
     .mhz = 1500,
     .flash = 0,
     .ram = 1 * kGiga,  // the smallest model
     .source = "Raspberry Pi 4 Model B Datasheet, Release 1, June 2019"},
    {.name = "raspberry-pi-5",
     .core = "Cortex-A76",
     .isa = "dotprod",
     .mhz = 2400,
     .flash = 0,
     .ram = 2 * kGiga,  // the smallest model
     .source = "Raspberry Pi 5 Product Brief"},
};

}  // namespace

std::vector<std::string> board_names() {
  std::vector<std::string> names;
  for (const Board& board : kBoards) names.emplace_back(board.name);
  return names;
}

const Board& board_by_name(const std::string& name) {
  std::string list;
  for (const Board& board : kBoards) {
    if (name == board.name) return board;
    list += (list.empty() ? "" : ", ") + std::string(board.name);
  }
  const std::string suggestion = did_you_mean(name, board_names());
  throw UsageError("--board: unknown board \"" + one_line(name) + '"' + suggestion +
                   (suggestion.empty() ? "; there are " : " There are ") + list +
                   "; for another one give --flash and --ram");
}

const Core& core_of(const Board& board) {
  for (const Core& core : kCores) {
    if (std::string(core.name) == board.core) return core;
  }
  throw InternalError(std::string("no core ") + board.core);
}

}  // namespace embert::cli
