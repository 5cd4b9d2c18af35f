// SPDX-License-Identifier: Apache-2.0
// Texts to tokens: the library's tokenizer with buffers that grow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "embert/embert.h"
#include "targets/hosted/texts/text_list.hpp"

namespace embert::hosted {

struct TextTokens {
  std::vector<int32_t> ids, type_ids;
  std::vector<uint32_t> byte_offsets, char_offsets;  ///< [tokens x 2]: begin and end of each
  std::vector<int32_t> word_ids;                     ///< -1: the token belongs to no word
  std::vector<int32_t> sequence_ids;                 ///< 0 or 1: the text; -1: a special token
  bool truncated = false;                            ///< max_tokens cut the text

  /// Appends the tokens begin .. end-1 of another text.
  void append(const TextTokens& other, size_t begin, size_t end);
};

/// Tokenizes a text or a pair, cut to max_tokens (the longest text first); 0: not cut. Throws
/// TextError, with index 0, for a text of 2^30 bytes.
TextTokens tokenize_text(const embert_model& model, const TextItem& item, uint32_t max_tokens);

/// The arrays that append_ids() appends to.
struct TokenSink {
  std::vector<int32_t>& ids;
  std::vector<int32_t>& type_ids;  ///< stays as it is for a text alone: its segments are zeros
};
/// Appends the tokens of a text, cut to max_tokens, and nothing else of it. Returns whether it was
/// cut. Throws TextError.
bool append_ids(const embert_model& model, const TextItem& item, uint32_t max_tokens,
                TokenSink sink);

/// Returns the ids of a text without special tokens.
std::vector<int32_t> plain_ids(const embert_model& model, std::string_view text);

/// Returns the vocabulary's string of a token.
std::string_view token_string(const embert_model& model, int32_t id);
/// Returns the text of tokens, cleaned up as the pipelines of transformers do. Ids that the model
/// has and its tokenizer lacks have no text.
std::string text_of(const embert_model& model, std::vector<int32_t> ids, bool skip_special);

}  // namespace embert::hosted
