// SPDX-License-Identifier: Apache-2.0
// Texts to tokens for the tool: the library's tokenizer with buffers that grow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "embert/embert.h"

namespace embert::cli {

struct TextTokens {
  std::vector<int32_t> ids, type_ids;
  std::vector<uint32_t> byte_offsets, char_offsets;  ///< start, end of each token
  std::vector<int32_t> word_ids;                     ///< -1: a token of no word
  std::vector<int32_t> sequence_ids;                 ///< 0 or 1: which text; -1: none

  /// Adds the tokens begin .. end-1 of another text.
  void append(const TextTokens& other, size_t begin, size_t end);
};

/// A text, or a pair where `pair` is not null, cut to max_tokens (longest text first); 0: not cut.
TextTokens tokenize_text(const embert_model& model, std::string_view text, const std::string* pair,
                         uint32_t max_tokens);

/// A text without special tokens.
std::vector<int32_t> plain_ids(const embert_model& model, std::string_view text);

/// The string of a token.
std::string_view token_string(const embert_model& model, int32_t id);
/// The text of tokens, cleaned up as the model family's pipelines do. A model may have more words
/// than its tokenizer: those have no text.
std::string text_of(const embert_model& model, std::vector<int32_t> ids, bool skip_special);

}  // namespace embert::cli
