// SPDX-License-Identifier: Apache-2.0
// The tokenizer of a Hugging Face folder: tokenizer.json, or vocab.txt with tokenizer_config.json
// and special_tokens_map.json. Only BERT's WordPiece is read; what differs from it is refused by
// name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "converter/model/tokenizer_spec.hpp"

namespace embert::convert {

/// What vocab.txt does not say. strip_accents unset means: as lowercase.
struct VocabularySettings {
  bool lowercase = true;
  std::optional<bool> strip_accents;
  bool split_cjk = true;
  bool clean_text = true;
  std::string unk_token = "[UNK]", cls_token = "[CLS]", sep_token = "[SEP]";
  std::string pad_token = "[PAD]", mask_token = "[MASK]";
};

/// The folder's tokenizer, or nothing if it has neither tokenizer.json nor vocab.txt. Letter case
/// comes from tokenizer_config.json where it says something, as transformers has it, else from
/// tokenizer.json; stored padding is ignored. What is not wrong but worth a line is appended to
/// `warnings`. Throws ConvertError.
std::optional<TokenizerSpec> read_tokenizer(const std::filesystem::path& folder,
                                            std::vector<std::string>& warnings);

/// A vocabulary file (one token a line, split at byte 0A, a 0D before it taken off) with BERT's
/// template and its five special tokens, which are added tokens as far as the vocabulary has them.
/// Throws ConvertError.
TokenizerSpec read_vocabulary(const std::filesystem::path& path,
                              const VocabularySettings& settings);

/// Reads the text of a tokenizer.json alone; `file` stands in messages. Throws ConvertError.
TokenizerSpec parse_tokenizer_json(const std::string& text, const std::string& file);

}  // namespace embert::convert
