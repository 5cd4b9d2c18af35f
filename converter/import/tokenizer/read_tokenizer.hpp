// SPDX-License-Identifier: Apache-2.0
// Reads the tokenizer of a Hugging Face folder: tokenizer.json; or the files of sentencepiece, of
// WordPiece (vocab.txt) or of byte-level BPE (vocab.json, merges.txt) with tokenizer_config.json
// and special_tokens_map.json. The error for another tokenizer names what differs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "converter/model/tokenizer_spec.hpp"

namespace embert::convert {

/// The settings that vocab.txt lacks. Without strip_accents, accents are stripped where lowercase
/// is set.
struct VocabularySettings {
  bool lowercase = true;
  std::optional<bool> strip_accents;
  bool split_cjk = true;
  bool clean_text = true;
  bool two_separators = false;  ///< between the texts of a pair
  std::string unk_token = "[UNK]", cls_token = "[CLS]", sep_token = "[SEP]";
  std::string pad_token = "[PAD]", mask_token = "[MASK]";
};

/// The folder's tokenizer, or nothing where it has none of these files. For letter case, accents,
/// Chinese characters and the prefix space tokenizer_config.json goes before tokenizer.json, as in
/// transformers; the special and added tokens that it names are added. Stored padding is ignored.
/// Appends a line to `warnings` where the two files differ, and for a special token without an id.
/// Throws ConvertError.
std::optional<TokenizerSpec> read_tokenizer(const std::filesystem::path& folder,
                                            std::vector<std::string>& warnings);

/// Reads a vocabulary file: one token a line, lines end with LF or CR LF. The tokenizer gets BERT's
/// template or MPNet's, and those of its five special tokens that the vocabulary has become added
/// tokens. Throws ConvertError.
TokenizerSpec read_vocabulary(const std::filesystem::path& path,
                              const VocabularySettings& settings);

/// Reads the text of a tokenizer.json alone; `file` stands in messages. Throws ConvertError.
TokenizerSpec parse_tokenizer_json(const std::string& text, const std::string& file);

}  // namespace embert::convert
