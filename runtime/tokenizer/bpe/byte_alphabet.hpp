// SPDX-License-Identifier: Apache-2.0
// The printable characters that stand for bytes in the strings of byte-level tokens (GPT-2's
// bytes_to_unicode, Radford et al. 2019): a printable byte for itself, the others by U+0100 and up.
#ifndef EMBERT_RUNTIME_TOKENIZER_BPE_BYTE_ALPHABET_HPP_
#define EMBERT_RUNTIME_TOKENIZER_BPE_BYTE_ALPHABET_HPP_

#include <stdint.h>

#include "runtime/tokenizer/utf8.hpp"

namespace embert {

constexpr uint32_t kNoByte = 256;

/// The byte that a code point stands for, or kNoByte.
constexpr uint32_t byte_of_character(uint32_t code_point) {
  if (code_point < 0x100) {
    const bool is_printable =
        (code_point >= 0x21 && code_point <= 0x7E) || (code_point >= 0xA1 && code_point != 0xAD);
    return is_printable ? code_point : kNoByte;
  }
  const uint32_t number = code_point - 0x100;
  if (number <= 0x20) return number;
  if (number <= 0x42) return number - 0x21 + 0x7F;
  return number == 0x43 ? 0xAD : kNoByte;
}

/// Whether all characters of a token's string stand for bytes. Added tokens may have others.
inline bool is_byte_string(const uint8_t* string, uint32_t bytes) {
  for (uint32_t at = 0; at < bytes;) {
    const Utf8Char c = decode_utf8(string + at, string + bytes);
    if (byte_of_character(c.code_point) == kNoByte) return false;
    at += c.bytes;
  }
  return true;
}

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_BPE_BYTE_ALPHABET_HPP_
