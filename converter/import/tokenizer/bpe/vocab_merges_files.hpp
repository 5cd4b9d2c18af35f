// SPDX-License-Identifier: Apache-2.0
// Byte-level BPE of folders without tokenizer.json: vocab.json and merges.txt.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "converter/import/json_file.hpp"
#include "converter/model/tokenizer_spec.hpp"

namespace embert::convert {

/// Reads both files as transformers 4 does for RobertaTokenizer (Bart's and Longformer's are the
/// same) and GPT2Tokenizer: the class is in tokenizer_config.json, or follows from the
/// model_type of config.json. Special tokens come from added_tokens_decoder of `tokenizer_config`,
/// else by their names from there or from special_tokens_map.json. Throws ConvertError.
TokenizerSpec read_vocab_and_merges(const std::filesystem::path& folder,
                                    const Json& tokenizer_config);

/// RobertaTokenizer and GPT2Tokenizer of transformers set add_prefix_space, and the former
/// trim_offsets, by tokenizer_config.json, whatever tokenizer.json says. Appends a line to
/// `warnings` where that changes the tokenizer.
void apply_byte_level_config(const Json& tokenizer_config, TokenizerSpec* spec,
                             std::vector<std::string>& warnings);

/// The text of merges.txt as "merges" of a tokenizer.json: a merge a line behind an optional line
/// "#version".
Json read_merges_text(const std::string& text, const std::string& file);

}  // namespace embert::convert
