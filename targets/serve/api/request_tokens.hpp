// SPDX-License-Identifier: Apache-2.0
// The texts of a request, and their tokens.
#pragma once

#include <string>
#include <vector>

#include "targets/hosted/texts/token_chunk.hpp"
#include "targets/serve/limits.hpp"
#include "targets/serve/models/served_models.hpp"
#include "targets/serve/request_error.hpp"

namespace embert::serve {

/// A text; two of them for a pair.
struct RequestText {
  std::string text;
  std::optional<std::string> pair = {};
};

/// The texts of a JSON value: a text, or a list of texts. pairs: an entry may also be a list of two
/// texts. Throws RequestError; `field` is the value's name.
std::vector<RequestText> texts_of(Json value, const std::string& field, bool pairs);

struct RequestTokens {
  TokenLists lists;
  std::vector<bool> truncated;  ///< [texts] cut to the model's length

  size_t texts() const { return lists.count(); }
  uint32_t tokens_of(size_t text) const { return static_cast<uint32_t>(lists.tokens_of(text)); }
};

/// Throws RequestError for a text that the model cannot read.
RequestTokens tokens_of_texts(const ServedModel& model, const std::vector<RequestText>& texts);

/// Whether the value is a list of token ids, or a list of such lists.
bool is_ids(const Json& value);
/// The ids are what the model reads, as /tokenize gives them: no prompt, no special token is added.
/// Throws RequestError for a list that is empty or too long and for ids that the model lacks.
RequestTokens tokens_of_ids(const ServedModel& model, const Json& value);

/// Throws RequestError, 413, for more texts than the limit, and 400 for none.
void check_count(size_t texts, const std::string& field, const Limits& limits);

/// {"prompt_tokens", "total_tokens"}
Json usage_of(const RequestTokens& tokens);

}  // namespace embert::serve
