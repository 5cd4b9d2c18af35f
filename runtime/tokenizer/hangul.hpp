// SPDX-License-Identifier: Apache-2.0
// The syllables of Hangul and their parts (The Unicode Standard, section 3.12).
#ifndef EMBERT_RUNTIME_TOKENIZER_HANGUL_HPP_
#define EMBERT_RUNTIME_TOKENIZER_HANGUL_HPP_

#include <stdint.h>

namespace embert {

constexpr uint32_t kHangulFirst = 0xAC00;
constexpr uint32_t kHangulCount = 11172;
constexpr uint32_t kHangulInitialFirst = 0x1100, kHangulInitials = 19;
constexpr uint32_t kHangulVowelFirst = 0x1161, kHangulVowels = 21;
constexpr uint32_t kHangulFinalBase = 0x11A7, kHangulFinals = 28;  // final 0 is none

inline bool is_hangul(uint32_t code_point) { return code_point - kHangulFirst < kHangulCount; }

/// Writes the initial, the vowel and the final, if there is one; returns their number.
inline uint32_t hangul_parts(uint32_t syllable, uint32_t parts[3]) {
  const uint32_t index = syllable - kHangulFirst;
  parts[0] = kHangulInitialFirst + index / (kHangulVowels * kHangulFinals);
  parts[1] = kHangulVowelFirst + index / kHangulFinals % kHangulVowels;
  parts[2] = kHangulFinalBase + index % kHangulFinals;
  return index % kHangulFinals == 0 ? 2 : 3;
}

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_HANGUL_HPP_
