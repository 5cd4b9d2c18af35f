// SPDX-License-Identifier: Apache-2.0
// The words of a byte-level BPE: what GPT-2's regular expression (Radford et al. 2019, encoder.py)
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// matches one after another; every character is in a word.
#ifndef EMBERT_RUNTIME_TOKENIZER_BPE_SPLIT_WORDS_HPP_
#define EMBERT_RUNTIME_TOKENIZER_BPE_SPLIT_WORDS_HPP_

#include <stdint.h>

#include "runtime/tokenizer/bpe/byte_level_tables.hpp"

namespace embert {

struct WordSize {
  uint32_t bytes;
  uint32_t chars;
};

/// A code point and its unicode::TextClass.
struct ClassifiedChar {
  uint32_t code_point;
  uint8_t text_class;
};

namespace detail {

// Reads the letters behind an apostrophe. True if they are a suffix.
template <typename Reader>
bool read_suffix(Reader& in) {
  ClassifiedChar c;
  if (!in.next(&c)) return false;
  const uint32_t first = c.code_point;
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return true;
  if (first != 'r' && first != 'v' && first != 'l') return false;
  return in.next(&c) && c.code_point == (first == 'l' ? 'l' : 'e');
}

}  // namespace detail

/// The size of the word that begins where `in` stands; 0 bytes at the end of the text. Reader:
/// copyable, `bool next(ClassifiedChar*)`, `WordSize size()` of what it has read. Without `split`
/// the whole text is a word.
template <typename Reader>
WordSize measure_word(Reader& in, bool split) {
  ClassifiedChar c;
  if (!in.next(&c)) return {0, 0};
  if (!split) {
    while (in.next(&c)) {
    }
    return in.size();
  }
  if (c.code_point == '\'') {
    Reader ahead = in;
    if (detail::read_suffix(ahead)) return ahead.size();
  }
  WordSize size = in.size();
  if (c.text_class != unicode::kWhiteSpace || c.code_point == ' ') {
    if (c.code_point == ' ' && !in.next(&c)) return size;
    if (c.text_class != unicode::kWhiteSpace) {
      const uint8_t kind = c.text_class;
      do {
        size = in.size();
      } while (in.next(&c) && c.text_class == kind);
      return size;
    }
  } else if (!in.next(&c) || c.text_class != unicode::kWhiteSpace) {
    return size;
  }
  // White space of two characters or more. Where more text follows, the last one stays behind.
  for (;;) {
    const WordSize shorter = size;
    size = in.size();
    if (!in.next(&c)) return size;
    if (c.text_class != unicode::kWhiteSpace) return shorter;
  }
}

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_BPE_SPLIT_WORDS_HPP_
