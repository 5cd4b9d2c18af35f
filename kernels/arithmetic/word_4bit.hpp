// SPDX-License-Identifier: Apache-2.0
// A row of word embeddings with 4 bits a value, in groups of 32 columns that share a scale. A row
// of n columns has B = word_groups(n) groups:
//
//   codes [B][16]: byte i of a group has the code of its column i in the low half, that of its
//   column 16 + i in the high half; scales s8 [B]
//
// A code is the number of one of 16 levels, which the whole table shares. value = level x scale of
// the group.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace embert {

static constexpr size_t kWordLevels = 16;
static constexpr size_t kWordGroup = 32;                   ///< columns
static constexpr size_t kWordGroupCodes = kWordGroup / 2;  ///< bytes

static constexpr size_t word_groups(size_t n) { return (n + kWordGroup - 1) / kWordGroup; }
static constexpr size_t word_row_bytes(size_t n) { return word_groups(n) * (kWordGroupCodes + 1); }

/// Byte of a column's code in its row, and the code's shift in that byte.
static constexpr size_t word_code_index(size_t c) {
  return c / kWordGroup * kWordGroupCodes + c % kWordGroupCodes;
}
static constexpr int word_code_shift(size_t c) { return c % kWordGroup < kWordGroupCodes ? 0 : 4; }

/// Level of column c: levels [16], row [word_row_bytes(n)].
static constexpr int32_t word_level(const int8_t* levels, const uint8_t* row, size_t c) {
  return levels[row[word_code_index(c)] >> word_code_shift(c) & 15];
}
/// Scale of column c's group.
static constexpr int32_t word_scale(const uint8_t* row, size_t n, size_t c) {
  return static_cast<int8_t>(row[word_groups(n) * kWordGroupCodes + c / kWordGroup]);
}

}  // namespace embert
