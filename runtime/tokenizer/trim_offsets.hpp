// SPDX-License-Identifier: Apache-2.0
// Takes white space at the ends of a token out of its offsets, as the post-processors of byte-level
// tokenizers do with trim_offsets.
#ifndef EMBERT_RUNTIME_TOKENIZER_TRIM_OFFSETS_HPP_
#define EMBERT_RUNTIME_TOKENIZER_TRIM_OFFSETS_HPP_

#include <stdint.h>

#include "runtime/tokenizer/sequence_encoder.hpp"

namespace embert {

/// Characters of white space at the ends of a token's string.
struct OuterSpace {
  uint32_t leading;
  uint32_t trailing;
};

/// The white space at the ends of a piece of text, which must hold whole characters.
inline OuterSpace outer_space(const uint8_t* begin, const uint8_t* end) {
  OuterSpace space = {0, 0};
  bool only_space = true;
  while (begin < end) {
    const Utf8Char c = decode_utf8(begin, end);
    const bool is_space = is_white_space(c.code_point);
    only_space = only_space && is_space;
    space.leading += only_space ? 1 : 0;
    space.trailing = is_space ? space.trailing + 1 : 0;
    begin += c.bytes;
  }
  return space;
}

/// Trims the offsets of the sink's next token. Where the tokenizer puts a space in front of texts,
/// one leading space of a window's first token, or of one at the begin of the text, stays: it is
/// taken for that one.
inline TokenOffsets trim_offsets(const SequenceState& state, OuterSpace space,
                                 TokenOffsets offsets) {
  const uint32_t flags = state.view.header->flags;
  if ((flags & kTokenizerTrimOffsets) == 0) return offsets;
  const bool is_first = state.sink.count == state.sink.first || offsets.char_start == 0;
  if (is_first && (flags & kTokenizerTrimKeepsSpace) != 0 && space.leading == 1) space.leading = 0;
  for (; space.leading != 0 && offsets.char_start < offsets.char_end; --space.leading) {
    const uint8_t* const at = state.text + offsets.byte_start;
    offsets.byte_start += decode_utf8(at, state.text + offsets.byte_end).bytes;
    ++offsets.char_start;
  }
  if (offsets.char_end < space.trailing) return offsets;
  for (; space.trailing != 0 && offsets.char_end > offsets.char_start; --space.trailing) {
    do {
      --offsets.byte_end;
    } while (offsets.byte_end > offsets.byte_start &&
             (state.text[offsets.byte_end] & 0xC0) == 0x80);
    --offsets.char_end;
  }
  return offsets;
}

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_TRIM_OFFSETS_HPP_
