// SPDX-License-Identifier: Apache-2.0
#include "converter/import/tokenizer/added_token.hpp"

#include "converter/convert_error.hpp"

namespace embert::convert {

AddedTokenSpec read_added_token(const Json& value, const std::string& file,
                                const std::string& list) {
  const std::string where = file + ": " + list;
  const JsonFields fields(value, where);
  AddedTokenSpec token;
  token.content = fields.get_string("content");
  if (token.content.empty()) throw ConvertError(where + ": a token is empty");
  token.special = fields.get_bool("special", false);
  token.normalized = fields.get_bool("normalized", !token.special);
  token.strip_left = fields.get_bool("lstrip", false);
  token.strip_right = fields.get_bool("rstrip", false);
  if (fields.get_bool("single_word", false)) {
    throw ConvertError(file + ": " + added_token_name(token) +
                       ": \"single_word\": true is not supported");
  }
  return token;
}

std::string added_token_name(const AddedTokenSpec& token) {
  return "added token \"" + printable(token.content, 40) + "\"";
}

}  // namespace embert::convert
