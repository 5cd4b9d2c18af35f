// SPDX-License-Identifier: Apache-2.0
// The grapheme break of each code point (UAX #29), in two-stage tables that
// generate_unigram_tables.py writes.
#ifndef EMBERT_RUNTIME_TOKENIZER_UNIGRAM_GRAPHEME_TABLES_HPP_
#define EMBERT_RUNTIME_TOKENIZER_UNIGRAM_GRAPHEME_TABLES_HPP_

#include <stdint.h>

#include "runtime/tokenizer/code_point_tables.hpp"
#include "runtime/tokenizer/hangul.hpp"

namespace embert {
namespace grapheme {

enum Category : uint8_t {
  kOther,
  kControl,
  kExtend,
  kJoiner,
  kSpacingMark,
  kPrepend,
  kHangulL,
  kHangulV,
  kHangulT,
  kHangulLv,
  kHangulLvt,
  kPictographic,
};

struct Range {
  uint32_t start;
  uint32_t category;
};

constexpr uint32_t kTableEnd = 0x20000;
constexpr uint32_t kShift = 5;
constexpr uint32_t kRangeCount = 7;

extern const uint8_t kStage1[];
extern const uint8_t kStage2[];  // two categories a byte, the first in the low half
extern const Range kRanges[];

inline Category category(uint32_t code_point) {
  if (is_hangul(code_point)) {
    return (code_point - kHangulFirst) % kHangulFinals == 0 ? kHangulLv : kHangulLvt;
  }
  if (code_point < kTableEnd) {
    const uint32_t at = two_stage_index(kStage1, kShift, code_point);
    return static_cast<Category>((kStage2[at >> 1] >> (4 * (at & 1))) & 15);
  }
  return static_cast<Category>(range_of(kRanges, kRangeCount, code_point).category);
}

}  // namespace grapheme
}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_UNIGRAM_GRAPHEME_TABLES_HPP_
