// SPDX-License-Identifier: Apache-2.0
// Properties of each code point for WordPiece, in two-stage tables that
// generate_unicode_tables.py writes.
#ifndef EMBERT_RUNTIME_TOKENIZER_WORDPIECE_UNICODE_TABLES_HPP_
#define EMBERT_RUNTIME_TOKENIZER_WORDPIECE_UNICODE_TABLES_HPP_

#include <stdint.h>

#include "runtime/tokenizer/code_point_tables.hpp"

namespace embert {
namespace unicode {

enum PropertyFlags : uint8_t {
  kRemoved = 1 << 0,  // clean_text drops it (control, format, private use, U+0000, U+FFFD)
  kSpace = 1 << 1,    // white space: ends a word; clean_text makes U+0020 of it unless it drops it
  kPunctuation = 1 << 2,  // a word of its own
  kCjk = 1 << 3,          // an ideograph that gets spaces around it
  kMark = 1 << 4,         // stripping accents leaves nothing of its decomposition
  kDecomposes =
      1 << 5,  // stripping accents replaces it, see decomposition(); Hangul does not have this flag
};

struct Properties {
  int32_t lowercase_delta;
  uint8_t flags;
  uint8_t combining_class;  // canonical; of the first code point of the decomposition
};

struct PropertyRange {
  uint32_t start;
  uint32_t properties;
};

/// A code point after stripping its accents: up to three code points, then zeros.
struct LongDecomposition {
  uint32_t code_point;
  uint32_t parts[3];
};

constexpr uint32_t kPropertyTableEnd = 0x20000;
constexpr uint32_t kPropertyShift = 6;
constexpr uint32_t kPropertyRangeCount = 19;
constexpr uint32_t kDecompositionShift = 5;
constexpr uint32_t kLongDecompositionCount = 53;
constexpr uint16_t kLongDecompositionMarker = 0xD800;
constexpr uint32_t kCompatibilityFirst = 0x2F800;

extern const uint8_t kPropertyStage1[];
extern const uint8_t kPropertyStage2[];
extern const Properties kProperties[];
extern const PropertyRange kPropertyRanges[];
extern const uint8_t kDecompositionStage1[];
extern const uint16_t kDecompositionStage2[];
extern const uint32_t kCompatibilitySupplement[];
extern const LongDecomposition kLongDecompositions[];

/// Properties of any code point up to U+10FFFF.
inline const Properties& properties(uint32_t code_point) {
  if (code_point < kPropertyTableEnd) {
    return kProperties[kPropertyStage2[two_stage_index(kPropertyStage1, kPropertyShift,
                                                       code_point)]];
  }
  return kProperties[range_of(kPropertyRanges, kPropertyRangeCount, code_point).properties];
}

/// Strips the accents of a code point with kDecomposes: writes the 1 to 3 code points that are left
/// and returns their number.
inline uint32_t decomposition(uint32_t code_point, uint32_t parts[3]) {
  if (code_point >= kCompatibilityFirst) {
    parts[0] = kCompatibilitySupplement[code_point - kCompatibilityFirst];
    return 1;
  }
  if (code_point < 0x10000) {
    const uint16_t target = kDecompositionStage2[two_stage_index(kDecompositionStage1,
                                                                 kDecompositionShift, code_point)];
    if (target != kLongDecompositionMarker) {
      parts[0] = target;
      return 1;
    }
  }
  const uint32_t row = first_not_before(kLongDecompositionCount - 1, [&](uint32_t i) {
    return kLongDecompositions[i].code_point < code_point;
  });
  uint32_t count = 0;
  while (count < 3 && kLongDecompositions[row].parts[count] != 0) {
    parts[count] = kLongDecompositions[row].parts[count];
    ++count;
  }
  return count;
}

}  // namespace unicode
}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_WORDPIECE_UNICODE_TABLES_HPP_
