// SPDX-License-Identifier: Apache-2.0
// Letters, numbers and white space, and the compositions of NFC, in tables that
// generate_byte_level_tables.py writes.
#ifndef EMBERT_RUNTIME_TOKENIZER_BPE_BYTE_LEVEL_TABLES_HPP_
#define EMBERT_RUNTIME_TOKENIZER_BPE_BYTE_LEVEL_TABLES_HPP_

#include <stdint.h>

#include "runtime/tokenizer/code_point_tables.hpp"

namespace embert {
namespace unicode {

/// General categories L and N, White_Space, all others.
enum TextClass : uint8_t { kOther = 0, kLetter = 1, kNumber = 2, kWhiteSpace = 3 };
constexpr uint8_t kTextClassMask = 3;
/// NFC may change the code point, or join it with the one before, or sort it: it can not be judged
/// alone. All are U+0300 or above.
constexpr uint8_t kComposes = 4;

constexpr uint32_t kTextClassEnd = 0x32000;
constexpr uint32_t kTextClassShift = 7;

/// A code point that NFD takes apart; second 0: into one other.
struct SmallComposition {
  uint16_t composed, first, second;
};
struct LargeComposition {
  uint32_t composed, first, second;
};

constexpr uint32_t kSmallCompositionCount = 999;
constexpr uint32_t kComposingCount = 928;
constexpr uint32_t kLargeCompositionCount = 12;
constexpr uint32_t kLargeDecompositionCount = 59;

extern const uint16_t kTextClassStage1[];
extern const uint8_t kTextClassStage2[];
/// Below U+F900, by `composed`.
extern const SmallComposition kSmallCompositions[];
/// Those that NFC composes, as indices in the order of second, then first.
extern const uint16_t kComposingOrder[];
/// From U+F900 on: kLargeCompositionCount that NFC composes, then those that it does not.
extern const LargeComposition kLargeCompositions[];

/// TextClass of a code point up to U+10FFFF, and kComposes.
inline uint8_t text_class(uint32_t code_point) {
  if (code_point >= kTextClassEnd) return kOther;
  const uint32_t at = two_stage_index(kTextClassStage1, kTextClassShift, code_point);
  return (kTextClassStage2[at >> 1] >> (4 * (at & 1))) & 15;
}

/// The canonical decomposition: writes 1 to 4 code points, not sorted, and returns their number. A
/// syllable of Hangul stays whole.
uint32_t canonical_decomposition(uint32_t code_point, uint32_t parts[4]);

/// What NFC makes of two code points, or 0.
uint32_t canonical_composition(uint32_t first, uint32_t second);

}  // namespace unicode
}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_BPE_BYTE_LEVEL_TABLES_HPP_
