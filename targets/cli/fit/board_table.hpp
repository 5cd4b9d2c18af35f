// SPDX-License-Identifier: Apache-2.0
// The boards that `embert fit` knows, and what it assumes about their processor cores. The numbers,
// each with its source, are in board_table.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace embert::cli {

struct Core {
  const char* name;    ///< "Cortex-M7"
  double cycles;       ///< that an instruction takes on average: an assumption
  const char* reason;  ///< why so many
};

struct Board {
  const char* name;    ///< as --board takes it
  const char* core;    ///< a Core's name
  const char* isa;     ///< of kernel_sets()
  uint32_t mhz;        ///< the highest clock of the processor
  uint64_t flash;      ///< bytes that may hold code and model; 0: a card or disk, large enough
  uint64_t ram;        ///< bytes of the largest block for arena, variables and stack
  const char* source;  ///< document and revision that the numbers are from
};

std::vector<std::string> board_names();
/// Throws UsageError that names the boards, and the one that was probably meant.
const Board& board_by_name(const std::string& name);
const Core& core_of(const Board& board);

}  // namespace embert::cli
