// SPDX-License-Identifier: Apache-2.0
#include "converter/import/tokenizer/token_table.hpp"

#include <algorithm>

#include "converter/convert_error.hpp"
#include "runtime/format/tokenizer_format.hpp"

namespace embert::convert {

void TokenTable::fail(const std::string& what) const { throw ConvertError(file_ + ": " + what); }

void TokenTable::add(const std::string& token, const Json& id, bool in_vocabulary) {
  if (!id.is_number_integer() || id < 0 || id >= kMaxTokenizerTokens) {
    fail("id of token \"" + printable(token, 40) + "\" must be a whole number from 0 to " +
         std::to_string(kMaxTokenizerTokens - 1) + ", found " + describe_json(id));
  }
  add(token, id.get<std::uint32_t>(), in_vocabulary);
}

void TokenTable::add(const std::string& token, std::uint32_t id, bool in_vocabulary) {
  if (id >= kMaxTokenizerTokens) {
    fail("more than " + std::to_string(kMaxTokenizerTokens) + " tokens");
  }
  if (id >= tokens_.size()) {
    tokens_.resize(id + 1);
    in_vocabulary_.resize(id + 1);
    taken_.resize(id + 1);
  }
  if (taken_[id]) {
    fail("tokens \"" + printable(tokens_[id], 40) + "\" and \"" + printable(token, 40) +
         "\" both have id " + std::to_string(id));
  }
  const auto [known, is_new] = ids_.emplace(token, id);
  if (!is_new) {
    fail("token \"" + printable(token, 40) + "\" has the ids " + std::to_string(known->second) +
         " and " + std::to_string(id) + "; tokens must differ");
  }
  taken_[id] = true;
  tokens_[id] = token;
  in_vocabulary_[id] = in_vocabulary;
}

std::optional<std::uint32_t> TokenTable::find(const std::string& token) const {
  const auto found = ids_.find(token);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::uint32_t TokenTable::check_id(const Json& value, const std::string& where) const {
  if (!value.is_number_integer() || value < 0 || value >= tokens_.size()) {
    fail(where + ": expected the id of a token, found " + describe_json(value));
  }
  return value.get<std::uint32_t>();
}

void TokenTable::require_no_holes() const {
  const auto hole = std::find(taken_.begin(), taken_.end(), false);
  if (hole != taken_.end()) {
    fail("no token has id " + std::to_string(hole - taken_.begin()) + "; ids must go from 0 to " +
         std::to_string(taken_.size() - 1) + " without holes");
  }
}

}  // namespace embert::convert
