// SPDX-License-Identifier: Apache-2.0
// A call of the tokenizer with any text, and what must hold of its results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "embert/embert_tokenizer.h"
#include "runtime/tokenizer/tokenizer.hpp"

namespace embert::fuzz {

/// The first bytes of an input, before the text. Each value counts in a range that covers the valid
/// ones and some beyond.
struct CallBytes {
  std::uint8_t tokenizer;   ///< which of the program's tokenizers
  std::uint8_t max_tokens;  ///< 0 to 31
  std::uint8_t stride;      ///< -1 to 6
  std::uint8_t window;      ///< 0 to 7
  std::uint8_t truncation;  ///< 0 to 3; bit 2: with special tokens
  std::uint8_t split;       ///< 0: one text; else the first of two has split / 256 of the bytes
  std::uint8_t capacity;    ///< 0 to 63, of a call whose arrays may be too small
};

struct TextCall {
  CallBytes bytes = {};
  std::string_view text;  ///< of both texts

  /// An input without room for CallBytes is an empty text.
  TextCall(const std::uint8_t* data, std::size_t size);
};

/// Tokenises the text as the call says, and as a single text without limits. Ends the program
/// where a result is not as the contract of tokenize() says, or differs from that of the same call.
void check_text(const TokenizerView& view, const TextCall& call);

}  // namespace embert::fuzz
