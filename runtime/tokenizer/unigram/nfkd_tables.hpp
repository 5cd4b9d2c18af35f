// SPDX-License-Identifier: Apache-2.0
// NFKD, combining classes, marks and lower case of each code point, in two-stage tables that
// generate_unigram_tables.py writes.
#ifndef EMBERT_RUNTIME_TOKENIZER_UNIGRAM_NFKD_TABLES_HPP_
#define EMBERT_RUNTIME_TOKENIZER_UNIGRAM_NFKD_TABLES_HPP_

#include <stdint.h>

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
    const uint32_t block = kPropertyStage1[code_point >> kPropertyShift];
    const uint32_t low = code_point & ((1u << kPropertyShift) - 1);
    return kProperties[kPropertyStage2[(block << kPropertyShift) + low]];
  }
  uint32_t i = kPropertyRangeCount - 1;
  while (kPropertyRanges[i].start > code_point) --i;
  return kProperties[kPropertyRanges[i].properties];
}

/// Place of the decomposition in kPool; 0 if there is none. Hangul syllables are not in the table.
inline uint32_t decomposition(uint32_t code_point) {
  if (code_point < 0x10000) {
    const uint32_t block = kStage1[code_point >> kShift];
    return kStage2[(block << kShift) + (code_point & ((1u << kShift) - 1))];
  }
  uint32_t low = 0;
  uint32_t high = kHighCount;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (kHigh[middle].code_point < code_point) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < kHighCount && kHigh[low].code_point == code_point ? kHigh[low].place : 0;
}

}  // namespace nfkd
}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_UNIGRAM_NFKD_TABLES_HPP_
