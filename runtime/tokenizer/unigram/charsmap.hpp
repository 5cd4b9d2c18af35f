// SPDX-License-Identifier: Apache-2.0
// Look-ups in a charsmap of sentencepiece: u32 size of the trie in bytes, the trie (a double array
// of darts-clone, u32 units), replacements that end in a zero byte. Nothing in it needs to be valid
// but the size and the last zero (UnigramHeader::charsmap_bytes).
#ifndef EMBERT_RUNTIME_TOKENIZER_UNIGRAM_CHARSMAP_HPP_
#define EMBERT_RUNTIME_TOKENIZER_UNIGRAM_CHARSMAP_HPP_

#include <stdint.h>

#include "runtime/format/tokenizer_format.hpp"

namespace embert {

/// A replacement: UTF-8 in the blob. Null bytes: there is none.
struct Replacement {
  const uint8_t* begin;
  const uint8_t* end;
};

class Charsmap {
 public:
  Charsmap() = default;
  /// bytes is 0 or at least 5, and 4-byte aligned.
  Charsmap(const uint8_t* map, uint32_t bytes) {
    if (bytes == 0) return;
    units_ = reinterpret_cast<const uint32_t*>(map) + 1;
    unit_count_ = units_[-1] / 4;
    strings_ = map + 4 + 4 * unit_count_;
    string_bytes_ = bytes - 4 - 4 * unit_count_;
  }

  /// The replacement of the shortest key that `text` begins with.
  Replacement find(const uint8_t* text, uint32_t bytes) const {
    if (unit_count_ == 0) return {nullptr, nullptr};
    uint32_t at = offset(units_[0]);
    for (uint32_t i = 0; i < bytes && text[i] != 0; ++i) {
      at ^= text[i];
      if (at >= unit_count_) break;
      const uint32_t unit = units_[at];
      if ((unit & kLabelMask) != text[i]) break;
      at ^= offset(unit);
      if ((unit & kHasLeaf) == 0) continue;
      if (at >= unit_count_) break;
      const uint32_t begin = units_[at] & kValueMask;
      if (begin >= string_bytes_) break;
      const uint8_t* end = strings_ + begin;
      while (*end != 0 && end < strings_ + begin + kMaxTokenBytes) ++end;
      return {strings_ + begin, end};
    }
    return {nullptr, nullptr};
  }

 private:
  static constexpr uint32_t kLabelMask = 0x800000FF;
  static constexpr uint32_t kHasLeaf = 1u << 8;
  static constexpr uint32_t kValueMask = 0x7FFFFFFF;
  static uint32_t offset(uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); }

  const uint32_t* units_ = nullptr;
  uint32_t unit_count_ = 0;
  const uint8_t* strings_ = nullptr;
  uint32_t string_bytes_ = 0;
};

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_UNIGRAM_CHARSMAP_HPP_
