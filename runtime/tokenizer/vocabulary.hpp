// SPDX-License-Identifier: Apache-2.0
// Look-ups in the tries of a validated section.
#ifndef EMBERT_RUNTIME_TOKENIZER_VOCABULARY_HPP_
#define EMBERT_RUNTIME_TOKENIZER_VOCABULARY_HPP_

#include <stdint.h>

#include "runtime/format/tokenizer_format.hpp"
#include "runtime/tokenizer/tokenizer.hpp"

namespace embert {

/// Offset of string `id` in the pool, 0..token_count. string_begin(token_count) is the pool's end.
inline uint32_t string_begin(const TokenizerView& view, uint32_t id) {
  return view.string_blocks[id / kStringBlock] + view.string_starts[id];
}

/// Bytes of an array together with the zeros behind it.
constexpr uint64_t padded_bytes(uint64_t bytes) {
  return (bytes + kTokenizerAlignment - 1) / kTokenizerAlignment * kTokenizerAlignment;
}

/// Version 2: the model's own header, behind which its arrays lie.
inline const uint8_t* model_part(const TokenizerView& view) {
  return view.strings + padded_bytes(view.header->string_bytes);
}

/// The child of a node of base `base` for a byte; 0 if there is none.
inline uint32_t child_unit(const uint32_t* units, uint32_t base, uint8_t byte) {
  const uint32_t unit = units[base + 1 + byte];
  return (unit & (0xFFu | kUnitIsChild)) == (byte | kUnitIsChild) ? unit : 0;
}

/// The trie of first pieces, or of continuing pieces, whose strings begin with a prefix ("##").
struct PieceTrie {
  uint32_t root;
  uint32_t prefix_bytes;
};

/// Finds the longest vocabulary entry that `text` begins with. Returns its length without prefix,
/// or 0.
inline uint32_t longest_piece(const TokenizerView& view, PieceTrie trie, const uint8_t* text,
                              uint32_t bytes, uint32_t* id) {
  uint32_t found = 0;
  uint32_t base = trie.root;
  for (uint32_t i = 0; i < bytes;) {
    const uint32_t unit = child_unit(view.word_units, base, text[i]);
    if (unit == 0) break;
    ++i;
    base = unit >> kUnitPayloadShift;
    if ((unit & kUnitIsLeaf) != 0) {
      // Only one entry begins like this: compare the rest of its string.
      const uint32_t at = string_begin(view, base) + trie.prefix_bytes + i;
      const uint32_t end = string_begin(view, base + 1);
      if (at > end || end - at > bytes - i) break;
      const uint8_t* tail = view.strings + at;
      uint32_t same = 0;
      while (same < end - at && tail[same] == text[i + same]) ++same;
      if (same == end - at) {
        *id = base;
        found = i + same;
      }
      break;
    }
    if ((unit & kUnitHasValue) != 0) {
      *id = view.word_units[base] >> kUnitPayloadShift;
      found = i;
    }
  }
  return found;
}

/// Descends the trie of added tokens byte by byte.
struct AddedTokenWalk {
  uint32_t base;
  uint32_t depth = 0;

  /// False when no added token continues with this byte. *found becomes the index of an added token
  /// that ends here.
  bool step(const TokenizerView& view, uint8_t byte, uint32_t* found) {
    // The depth limit ends the walk in a hostile trie, whose nodes may form a circle.
    const uint32_t unit = child_unit(view.added_units, base, byte);
    if (unit == 0 || depth == kMaxTokenBytes) return false;
    ++depth;
    base = unit >> kUnitPayloadShift;
    if ((unit & kUnitIsLeaf) != 0) {
      *found = base;
      depth = kMaxTokenBytes;
      base = 0;
      return true;
    }
    if ((unit & kUnitHasValue) != 0) *found = view.added_units[base] >> kUnitPayloadShift;
    return true;
  }
};

inline bool has_bit(const uint32_t bits[8], uint8_t byte) {
  return ((bits[byte >> 5] >> (byte & 31)) & 1) != 0;
}

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_VOCABULARY_HPP_
