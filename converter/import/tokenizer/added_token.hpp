// SPDX-License-Identifier: Apache-2.0
// The object that describes an added token, alike in tokenizer.json and tokenizer_config.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "converter/import/json_file.hpp"
#include "converter/model/tokenizer_spec.hpp"

namespace embert::convert {

/// Everything but AddedTokenSpec::id, which each file keeps elsewhere. `file` and the key `list`
/// stand in messages. Throws ConvertError.
AddedTokenSpec read_added_token(const Json& value, const std::string& file,
                                const std::string& list);

/// The tokens of tokenizer_config.json's "added_tokens_decoder", an object from id to token. `file`
/// stands in messages. Throws ConvertError.
std::map<std::uint32_t, Json> added_tokens_by_id(const Json& list, const std::string& file);

/// Throws ConvertError where the folder has tokens in added_tokens.json, which says less of them.
void refuse_added_tokens_file(const std::filesystem::path& folder);

/// The token in a message.
std::string added_token_name(const AddedTokenSpec& token);

}  // namespace embert::convert
