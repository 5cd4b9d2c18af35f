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
// Every number was compared with the pages that source names. Most are other projects' descriptions
// of a board: the vendors' data sheets, apart from the pages of PJRC and of Raspberry Pi's guide,
// could not be read and may know more.
constexpr Board kBoards[] = {
    {.name = "nucleo-h743zi",
     .core = "Cortex-M7",
     .isa = "dsp",
     .mhz = 480,
     .flash = 2 * kMega,
     .ram = 512 * kKilo,  // AXI SRAM
     .source =
         "Zephyr 4, boards/st/nucleo_h743zi (480 MHz) and dts/arm/st/h7/stm32h743Xi.dtsi "
         "(flash); RAM: https://0xhenry.dev/en/study/stm32-architecture; the firmware of this "
         "tree runs at 64 MHz"},
    {.name = "nucleo-f746zg",
     .core = "Cortex-M7",
     .isa = "dsp",
     .mhz = 216,
     .flash = 1 * kMega,
     .ram = 320 * kKilo,  // DTCM, SRAM1 and SRAM2 in a row
     .source = "Zephyr, boards/st/nucleo_f746zg/doc (clock, flash, RAM); ST RM0385, 2.1 (blocks)"},
    {.name = "teensy-4.1",
     .core = "Cortex-M7",
     .isa = "dsp",
     .mhz = 600,
     .flash = 7936 * kKilo,  // of 8 MB
     .ram = 512 * kKilo,     // OCRAM
     .source = "PJRC, https://www.pjrc.com/store/teensy41.html; OCRAM: its 1024K less 512K tightly "
               "coupled"},
    {.name = "stm32f4-discovery",
     .core = "Cortex-M4",
     .isa = "dsp",
     .mhz = 168,
     .flash = 1 * kMega,
     .ram = 128 * kKilo,  // SRAM1 and SRAM2 in a row
     .source = "Zephyr 3.0, boards/arm/stm32f4_disco/doc (clock, flash); ST RM0090, 2.1 (RAM)"},
    {.name = "nrf52840-dk",
     .core = "Cortex-M4",
     .isa = "dsp",
     .mhz = 64,
     .flash = 1 * kMega,
     .ram = 256 * kKilo,
     .source =
         "PlatformIO, boards/nordicnrf52/nrf52840_dk; Zephyr, dts/arm/nordic/nrf52840_qiaa.dtsi"},
    {.name = "nrf5340-dk",
     .core = "Cortex-M33",
     .isa = "dsp",
     .mhz = 128,
     .flash = 1 * kMega,
     .ram = 512 * kKilo,
     .source = "Zephyr, boards/nordic/nrf5340dk/doc (clock, DSP instructions) and "
               "dts/arm/nordic/nrf5340_cpuapp_qkaa.dtsi"},
    {.name = "b-u585i-iot02a",
     .core = "Cortex-M33",
     .isa = "dsp",
     .mhz = 160,
     .flash = 2 * kMega,
     .ram = 768 * kKilo,  // SRAM1 to SRAM3 in a row
     .source = "Zephyr, boards/st/b_u585i_iot02a/doc (clock, flash); RAM: ST's linker script "
               "STM32U585AIIXQ_FLASH.ld in FreeRTOS/iot-reference-stm32u5"},
    {.name = "raspberry-pi-pico-2",
     .core = "Cortex-M33",
     .isa = "dsp",
     .mhz = 150,
     .flash = 4 * kMega,  // read in place over QSPI
     .ram = 520 * kKilo,
     .source = "Zephyr 4.1, boards/raspberrypi/rpi_pico2/doc"},
    {.name = "nucleo-n657x0-q",
     .core = "Cortex-M55",
     .isa = "mve",
     .mhz = 600,
     .flash = 64 * kMega,  // external, read in place
     .ram = 1 * kMega,     // AXISRAM2
     .source =
         "clock: wolfSSL/wolfip, pull 85 (others say 800 MHz); RAM: Zephyr, "
         "dts/arm/st/n6/stm32n657X0.dtsi; flash: MX25UM51245G, IMProject/IMBootloader, pull 39"},
    {.name = "mps2-an386",
     .core = "Cortex-M4",
     .isa = "dsp",
     .mhz = 25,
     .flash = 4 * kMega,  // SSRAM1
     .ram = 2 * kMega,    // of SSRAM2 and 3
     .source = "QEMU, hw/arm/mps2.c; Arm Application Note AN386 itself was not read"},
    {.name = "mps2-an500",
     .core = "Cortex-M7",
     .isa = "dsp",
     .mhz = 25,
     .flash = 4 * kMega,
     .ram = 2 * kMega,
     .source = "QEMU, hw/arm/mps2.c; Arm Application Note AN500 itself was not read"},
    {.name = "mps2-an505",
     .core = "Cortex-M33",
     .isa = "scalar",  // its core has no DSP instructions
     .mhz = 20,
     .flash = 4 * kMega,  // SSRAM1
     .ram = 2 * kMega,    // SSRAM2
     .source = "QEMU, hw/arm/mps2-tz.c; Arm Application Note AN505 itself was not read"},
    {.name = "mps3-an547",
     .core = "Cortex-M55",
     .isa = "mve",
     .mhz = 32,
     .flash = 2 * kMega,  // block RAM
     .ram = 2 * kMega,    // SRAM of the subsystem
     .source = "QEMU, hw/arm/mps2-tz.c; Arm Application Note AN547 itself was not read"},
    {.name = "raspberry-pi-zero-2w",
     .core = "Cortex-A53",
     .isa = "neon",
     .mhz = 1000,
     .flash = 0,
     .ram = 512 * kMega,
     .source = "https://etechnophiles.com/rpi-zero-2w-board-layout-pinout-specs-price"},
    {.name = "raspberry-pi-4b",
     .core = "Cortex-A72",
     .isa = "neon",
     .mhz = 1500,
     .flash = 0,
     .ram = 1 * kGiga,  // the smallest model
     .source = "Raspberry Pi Beginner's Guide, 3rd edition, appendix F"},
    {.name = "raspberry-pi-5",
     .core = "Cortex-A76",
     .isa = "dotprod",
     .mhz = 2400,
     .flash = 0,
     .ram = 1 * kGiga,  // the smallest that was announced; the first models have 4 GB
     .source =
         "https://circuitdigest.com/news/the-new-raspberry-pi-5-is-here-faster-than-ever (clock); "
         "https://boardor.com/blog/raspberry-pi-5-is-it-worth-buying (memory)"},
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
