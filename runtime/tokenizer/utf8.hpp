// SPDX-License-Identifier: Apache-2.0
// Code points of the original text: decoding, encoding, positions, and what all normalisers give.
#ifndef EMBERT_RUNTIME_TOKENIZER_UTF8_HPP_
#define EMBERT_RUNTIME_TOKENIZER_UTF8_HPP_

#include <stddef.h>
#include <stdint.h>

namespace embert {

/// Where a code point stands in the original text.
struct SourceOffsets {
  uint32_t byte_start;
  uint32_t byte_end;
  uint32_t char_index;
};

struct NormalizedChar {
  uint32_t code_point;
  SourceOffsets offsets;
};

struct Utf8Char {
  uint32_t code_point;
  uint32_t bytes;
};

constexpr uint32_t kReplacementCharacter = 0xFFFD;

namespace detail {
constexpr bool in_range(uint8_t byte, uint8_t low, uint8_t high) {
  return byte >= low && byte <= high;
}
}  // namespace detail

/// Decodes one code point; needs begin < end. Where the bytes are not UTF-8, the longest part that
/// begins a well-formed sequence (at least one byte) counts as one U+FFFD.
inline Utf8Char decode_utf8(const uint8_t* begin, const uint8_t* end) {
  const uint8_t lead = begin[0];
  if (lead < 0x80) return {lead, 1};
  // The second byte's range excludes overlong forms, surrogates and code points above U+10FFFF.
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
  uint32_t length = 0;
  uint32_t code_point = 0;
  if (detail::in_range(lead, 0xC2, 0xDF)) {
    length = 2;
    code_point = lead & 0x1Fu;
  } else if (detail::in_range(lead, 0xE0, 0xEF)) {
    length = 3;
    code_point = lead & 0x0Fu;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (detail::in_range(lead, 0xF0, 0xF4)) {
    length = 4;
    code_point = lead & 0x07u;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {kReplacementCharacter, 1};
  }
  const size_t available = static_cast<size_t>(end - begin);
  for (uint32_t i = 1; i < length; ++i) {
    if (i >= available || !detail::in_range(begin[i], low, high)) return {kReplacementCharacter, i};
    code_point = (code_point << 6) | (begin[i] & 0x3Fu);
    low = 0x80;
    high = 0xBF;
  }
  return {code_point, length};
}

/// Writes the UTF-8 of a code point; returns its 1 to 4 bytes.
inline uint32_t encode_utf8(uint32_t code_point, uint8_t* out) {
  if (code_point < 0x80) {
    out[0] = static_cast<uint8_t>(code_point);
    return 1;
  }
  if (code_point < 0x800) {
    out[0] = static_cast<uint8_t>(0xC0 | (code_point >> 6));
    out[1] = static_cast<uint8_t>(0x80 | (code_point & 0x3F));
    return 2;
  }
  if (code_point < 0x10000) {
    out[0] = static_cast<uint8_t>(0xE0 | (code_point >> 12));
    out[1] = static_cast<uint8_t>(0x80 | ((code_point >> 6) & 0x3F));
    out[2] = static_cast<uint8_t>(0x80 | (code_point & 0x3F));
    return 3;
  }
  out[0] = static_cast<uint8_t>(0xF0 | (code_point >> 18));
  out[1] = static_cast<uint8_t>(0x80 | ((code_point >> 12) & 0x3F));
  out[2] = static_cast<uint8_t>(0x80 | ((code_point >> 6) & 0x3F));
  out[3] = static_cast<uint8_t>(0x80 | (code_point & 0x3F));
  return 4;
}

/// A position in the text: bytes and code points before it.
struct TextCursor {
  uint32_t byte;
  uint32_t character;
};

/// White_Space of Unicode, which has not changed since version 6.3.
constexpr bool is_white_space(uint32_t code_point) {
  if (code_point < 0x1680) {
    return (code_point >= 0x09 && code_point <= 0x0D) || code_point == 0x20 || code_point == 0x85 ||
           code_point == 0xA0;
  }
  return code_point == 0x1680 || (code_point >= 0x2000 && code_point <= 0x200A) ||
         code_point == 0x2028 || code_point == 0x2029 || code_point == 0x202F ||
         code_point == 0x205F || code_point == 0x3000;
}

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_UTF8_HPP_
