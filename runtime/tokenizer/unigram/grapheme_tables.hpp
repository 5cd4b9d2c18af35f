// SPDX-License-Identifier: Apache-2.0
// grapheme break of each code point (UAX #29), in two-stage tables that
// generate_unigram_tables.py writes.
#ifndef EMBERT_RUNTIME_TOKENIZER_UNIGRAM_GRAPHEME_TABLES_HPP_
#define EMBERT_RUNTIME_TOKENIZER_UNIGRAM_GRAPHEME_TABLES_HPP_

#include <stdint.h>

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
  if (code_point - 0xAC00 < 11172) {
    return (code_point - 0xAC00) % 28 == 0 ? kHangulLv : kHangulLvt;
  }
  if (code_point < kTableEnd) {
    const uint32_t block = kStage1[code_point >> kShift];
    const uint32_t at = (block << kShift) + (code_point & ((1u << kShift) - 1));
    return static_cast<Category>((kStage2[at >> 1] >> (4 * (at & 1))) & 15);
  }
  uint32_t i = kRangeCount - 1;
  while (kRanges[i].start > code_point) --i;
  return static_cast<Category>(kRanges[i].category);
}

}  // namespace grapheme
}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_UNIGRAM_GRAPHEME_TABLES_HPP_
