// SPDX-License-Identifier: Apache-2.0
// NFKD, combining classes, marks and lower case of each code point, in two-stage tables that
// generate_unigram_tables.py writes.
#ifndef EMBERT_RUNTIME_TOKENIZER_UNIGRAM_NFKD_TABLES_HPP_
#define EMBERT_RUNTIME_TOKENIZER_UNIGRAM_NFKD_TABLES_HPP_

#include <stdint.h>

#include "runtime/tokenizer/code_point_tables.hpp"

namespace embert {
namespace nfkd {

/// Code points from U+10000 on with their place in kPool, ascending.
struct High {
  uint32_t code_point;
  uint32_t place;
};

struct Properties {
  int32_t lowercase_delta;
  uint8_t is_mark;          // general category M
  uint8_t combining_class;  // canonical; 0 for a code point that decomposes
};

struct PropertyRange {
  uint32_t start;
  uint32_t properties;
};

constexpr uint32_t kShift = 5;
constexpr uint32_t kHighCount = 1839;
constexpr uint32_t kPropertyTableEnd = 0x20000;
constexpr uint32_t kPropertyShift = 5;
constexpr uint32_t kPropertyRangeCount = 3;

extern const uint8_t kStage1[];
extern const uint16_t kStage2[];  // place in kPool, 0: does not decompose
extern const uint16_t kPool[];    // at a place: number of UTF-16 units, then the units
extern const High kHigh[];
extern const uint8_t kPropertyStage1[];
extern const uint8_t kPropertyStage2[];
extern const Properties kProperties[];
extern const PropertyRange kPropertyRanges[];

/// Properties of any code point up to U+10FFFF.
inline const Properties& properties(uint32_t code_point) {
  if (code_point < kPropertyTableEnd) {
    return kProperties[kPropertyStage2[two_stage_index(kPropertyStage1, kPropertyShift,
                                                       code_point)]];
  }
  return kProperties[range_of(kPropertyRanges, kPropertyRangeCount, code_point).properties];
}

/// Place of the decomposition in kPool; 0 if there is none. Hangul syllables are not in the table.
inline uint32_t decomposition(uint32_t code_point) {
  if (code_point < 0x10000) {
    return kStage2[two_stage_index(kStage1, kShift, code_point)];
  }
  const uint32_t row =
      first_not_before(kHighCount, [&](uint32_t i) { return kHigh[i].code_point < code_point; });
  return row < kHighCount && kHigh[row].code_point == code_point ? kHigh[row].place : 0;
}

}  // namespace nfkd
}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_UNIGRAM_NFKD_TABLES_HPP_
