// SPDX-License-Identifier: Apache-2.0
// What the readers of all parts of a section share: where arrays lie, and checks of tries and text.
#ifndef EMBERT_RUNTIME_TOKENIZER_SECTION_CHECKS_HPP_
#define EMBERT_RUNTIME_TOKENIZER_SECTION_CHECKS_HPP_

#include <stdint.h>

#include "runtime/tokenizer/tokenizer.hpp"
#include "runtime/tokenizer/utf8.hpp"
#include "runtime/tokenizer/vocabulary.hpp"

namespace embert {

inline bool is_utf8(const uint8_t* begin, const uint8_t* end) {
  while (begin < end) {
    const Utf8Char c = decode_utf8(begin, end);
    // decode_utf8 gives U+FFFD for malformed bytes, too. Only U+FFFD itself has these three bytes.
    if (c.code_point == 0xFFFD &&
        !(c.bytes == 3 && begin[0] == 0xEF && begin[1] == 0xBF && begin[2] == 0xBD)) {
      return false;
    }
    begin += c.bytes;
  }
  return true;
}

/// Hands out the arrays behind the header. Each begins at the next multiple of 64, with zeros
/// between.
class SectionLayout {
 public:
  SectionLayout(const uint8_t* section, uint64_t section_bytes)
      : section_(section), section_bytes_(section_bytes) {}

  /// Returns null if the array does not fit.
  const uint8_t* take(uint64_t bytes) {
    const uint64_t begin = end_;
    end_ = begin + padded_bytes(bytes);
    if (end_ > section_bytes_) return nullptr;
    for (uint64_t i = begin + bytes; i < end_; ++i) clean_ = clean_ && section_[i] == 0;
    return section_ + begin;
  }
  bool full() const { return end_ == section_bytes_; }
  bool clean() const { return clean_; }

 private:
  const uint8_t* section_;
  uint64_t section_bytes_;
  uint64_t end_ = sizeof(TokenizerHeader);
  bool clean_ = true;
};

/// Every reachable unit has its children and its value inside the array. In a broken trie nodes may
/// form a circle. A look-up still ends, because each step takes a byte of a word, or one of the 255
/// bytes that an added token may have.
inline TokenizerStatus check_units(const uint32_t* units, uint32_t count, uint32_t values) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t unit = units[i];
    const uint32_t payload = unit >> kUnitPayloadShift;
    if ((unit & kUnitIsChild) == 0) {
      // Either unused, or the value of a node.
      if ((unit & (0xFFu | kUnitIsLeaf | kUnitHasValue)) != 0)
        return TokenizerStatus::kSectionBadUnit;
    } else if ((unit & kUnitIsLeaf) != 0) {
      if (payload >= values || (unit & kUnitHasValue) != 0) return TokenizerStatus::kSectionBadUnit;
    } else {
      if (payload > count - kUnitSpan) return TokenizerStatus::kSectionBadUnit;
      if ((unit & kUnitHasValue) != 0) {
        const uint32_t value = units[payload];
        if ((value & kUnitIsChild) != 0 || (value >> kUnitPayloadShift) >= values)
          return TokenizerStatus::kSectionBadUnit;
      }
    }
  }
  return TokenizerStatus::kOk;
}

// The part of a section of version 2 that belongs to its model. The first function takes the
// model's header and arrays behind the common ones and checks the header; the layout is checked
// afterwards. The second checks the contents, when the common ones are valid.
TokenizerStatus locate_unigram(SectionLayout& layout, const TokenizerView& view);
TokenizerStatus check_unigram(const TokenizerView& view);
TokenizerStatus locate_bpe(SectionLayout& layout, const TokenizerView& view);
TokenizerStatus check_bpe(const TokenizerView& view);

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_SECTION_CHECKS_HPP_
