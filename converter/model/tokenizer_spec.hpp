// SPDX-License-Identifier: Apache-2.0
// A WordPiece tokenizer as the converter holds it between its files and the blob's tokenizer
// section.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace embert::convert {

/// A token that is searched for in the text before the text is split into words.
struct AddedTokenSpec {
  std::string content;
  std::uint32_t id = 0;
  bool strip_left = false;   ///< also takes the white space before it
  bool strip_right = false;  ///< also takes the white space after it
  bool normalized = false;   ///< searched for in the normalised text, else in the original text
  bool special = false;
};

/// One piece of the template around the texts: a special token, or a text.
struct TemplatePieceSpec {
  enum class Kind { kToken, kFirstText, kSecondText };
  Kind kind = Kind::kToken;
  std::uint32_t token_id = 0;  ///< of kToken
  std::uint32_t type_id = 0;
};

struct TokenizerSpec {
  std::vector<std::string> tokens;  ///< by id: vocabulary and added tokens, without holes
  std::vector<bool> in_vocabulary;  ///< by id: whether the token is a word piece
  std::vector<AddedTokenSpec> added_tokens;

  bool lowercase = true;
  bool strip_accents = true;
  bool split_cjk = true;
  bool clean_text = true;
  std::uint32_t max_word_chars = 100;
  std::string continuing_prefix = "##";

  std::uint32_t unk_id = 0;
  std::optional<std::uint32_t> cls_id, sep_id, pad_id, mask_id;
  std::vector<TemplatePieceSpec> single, pair;

  /// Maximum length, where tokenizer.json sets one.
  std::optional<std::uint32_t> max_tokens;
};

}  // namespace embert::convert
