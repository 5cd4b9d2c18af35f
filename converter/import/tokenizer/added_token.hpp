// SPDX-License-Identifier: Apache-2.0
// The object that describes an added token, alike in tokenizer.json and tokenizer_config.json.
#pragma once

#include <string>

#include "converter/import/json_file.hpp"
#include "converter/model/tokenizer_spec.hpp"

namespace embert::convert {

/// Everything but AddedTokenSpec::id, which each file keeps elsewhere. `file` and the key `list`
/// stand in messages. Throws ConvertError.
AddedTokenSpec read_added_token(const Json& value, const std::string& file,
                                const std::string& list);

/// The token in a message.
std::string added_token_name(const AddedTokenSpec& token);

}  // namespace embert::convert
