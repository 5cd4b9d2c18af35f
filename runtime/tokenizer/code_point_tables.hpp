// SPDX-License-Identifier: Apache-2.0
// How the tables of code points are read: two stages, ranges, and sorted rows.
#ifndef EMBERT_RUNTIME_TOKENIZER_CODE_POINT_TABLES_HPP_
#define EMBERT_RUNTIME_TOKENIZER_CODE_POINT_TABLES_HPP_

#include <stdint.h>

namespace embert {

/// Index of a code point in stage 2. stage1[code_point >> shift] is the number of its block, and
/// a block has 1 << shift items.
template <class Block>
inline uint32_t two_stage_index(const Block* stage1, uint32_t shift, uint32_t code_point) {
  const uint32_t block = stage1[code_point >> shift];
  return (block << shift) + (code_point & ((1u << shift) - 1));
}

/// The range of a code point: the last of `count` rows, ascending by start, whose start is not
/// above it. The first row starts at or below every code point that is asked for.
template <class Range>
inline const Range& range_of(const Range* ranges, uint32_t count, uint32_t code_point) {
  uint32_t i = count - 1;
  while (ranges[i].start > code_point) --i;
  return ranges[i];
}

/// The first of `count` sorted rows that does not sort before the one looked for, or count.
/// is_before(i) says whether row i does.
template <class IsBefore>
inline uint32_t first_not_before(uint32_t count, IsBefore is_before) {
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (is_before(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_CODE_POINT_TABLES_HPP_
