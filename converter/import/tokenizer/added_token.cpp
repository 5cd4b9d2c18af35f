// SPDX-License-Identifier: Apache-2.0
#include "converter/import/tokenizer/added_token.hpp"

#include "converter/convert_error.hpp"
#include "converter/files/read_file.hpp"

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

std::map<std::uint32_t, Json> added_tokens_by_id(const Json& list, const std::string& file) {
  if (!list.is_object()) throw ConvertError(file + ": \"added_tokens_decoder\" must be an object");
  std::map<std::uint32_t, Json> tokens;
  for (const auto& [key, value] : list.items()) {
    const bool is_number =
        !key.empty() && key.size() <= 7 && key.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || !value.is_object()) {
      throw ConvertError(file + ": added_tokens_decoder: \"" + printable(key, 40) +
                         "\" is no token id with a token");
    }
    tokens[static_cast<std::uint32_t>(std::stoul(key))] = value;
  }
  return tokens;
}

void refuse_added_tokens_file(const std::filesystem::path& folder) {
  const std::string file = "added_tokens.json";
  if (!file_exists(folder / file) || read_json_file(folder / file, file).empty()) return;
  throw ConvertError(file +
                     ": not supported without tokenizer.json; load the folder with transformers "
                     "and save it again");
}

std::string added_token_name(const AddedTokenSpec& token) {
  return "added token \"" + printable(token.content, 40) + "\"";
}

}  // namespace embert::convert
