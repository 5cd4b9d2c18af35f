// SPDX-License-Identifier: Apache-2.0
// A WordPiece tokenizer as the converter knows it, between the files it is read from and the blob's
// section.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace embert::convert {

/// A token that is found in the text before words are split.
struct AddedTokenSpec {
  std::string content;
  std::uint32_t id = 0;
  bool strip_left = false;   ///< takes in white space before it
  bool strip_right = false;  ///< takes in white space behind it
  bool normalized = false;   ///< looked for in the normalised text, else in the text as it is
  bool special = false;
};

struct TemplatePieceSpec {
  enum class Kind { kToken, kFirstText, kSecondText };
  Kind kind = Kind::kToken;
  std::uint32_t token_id = 0;  ///< of kToken
  std::uint32_t type_id = 0;
};

struct TokenizerSpec {
  std::vector<std::string> tokens;  ///< by id: vocabulary and added tokens, no holes
  std::vector<bool> in_vocabulary;  ///< by id: whether word pieces may be this token
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

  /// The length that tokenizer.json truncates to, where it does.
  std::optional<std::uint32_t> max_tokens;
};

}  // namespace embert::convert
