// SPDX-License-Identifier: Apache-2.0
// The Unicode script of each code point (Unicode Standard Annex 24), written by
// generate_script_tables.py.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace embert::convert {

inline constexpr std::size_t kScriptCount = 178;
inline constexpr std::size_t kScriptRangeCount = 1732;

/// Code points from `first` to the next range have one script.
struct ScriptRange {
  std::uint32_t first;
  std::uint8_t script;  ///< index into kScriptNames
};

extern const std::array<const char*, kScriptCount> kScriptNames;  ///< sorted
extern const std::array<ScriptRange, kScriptRangeCount> kScriptRanges;

}  // namespace embert::convert
