// SPDX-License-Identifier: Apache-2.0
#include "targets/serve/api/request_tokens.hpp"

#include <algorithm>
#include <utility>

#include "targets/hosted/model/text_tokens.hpp"
#include "targets/serve/memory_budget.hpp"

namespace embert::serve {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw RequestError(400, "invalid_value", message);
}

RequestText text_of(Json value, const std::string& field, bool pairs) {
  if (value.is_string()) return {std::move(value.get_ref<std::string&>())};
  const auto is_text = [](const Json& one) { return one.is_string(); };
  if (!pairs || !value.is_array() || value.size() != 2 ||
      !std::all_of(value.begin(), value.end(), is_text)) {
    refuse(field + " is a value of type " + value.type_name() + "; it takes a text" +
           (pairs ? " or a list of two texts" : ""));
  }
  return {std::move(value[0].get_ref<std::string&>()), std::move(value[1].get_ref<std::string&>())};
}

std::string name_of(const std::string& field, size_t index) {
  return field + "[" + std::to_string(index) + "]";
}

void add_ids(const ServedModel& served, const Json& list, const std::string& field,
             RequestTokens& tokens) {
  const embert_model_info& info = served.model.file().info();
  if (list.empty()) refuse(field + " is an empty list; it takes at least one token id");
  if (list.size() > served.model.max_tokens()) {
    refuse(field + " has " + std::to_string(list.size()) + " token ids; the model reads at most " +
           std::to_string(served.model.max_tokens()));
  }
  for (const Json& id : list) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= info.vocab_size) {
      refuse(field + ": a token id is not a whole number from 0 to " +
             std::to_string(info.vocab_size - 1));
    }
    tokens.lists.ids.push_back(static_cast<int32_t>(id.get<uint64_t>()));
  }
  tokens.lists.end_text();
  tokens.truncated.push_back(false);
}

}  // namespace

std::vector<RequestText> texts_of(Json value, const std::string& field, bool pairs) {
  std::vector<RequestText> texts;
  if (!value.is_array()) {
    texts.push_back(text_of(std::move(value), field, false));
    return texts;
  }
  for (size_t i = 0; i < value.size(); ++i) {
    texts.push_back(text_of(std::move(value[i]), name_of(field, i), pairs));
  }
  return texts;
}

RequestTokens tokens_of_texts(const ServedModel& served, const std::vector<RequestText>& texts) {
  served.model.file().require_tokenizer();
  const embert_model_info& info = served.model.file().info();
  RequestTokens tokens;
  for (size_t i = 0; i < texts.size(); ++i) {
    TextItem item = {texts[i].text, {}};
    if (texts[i].pair) item.pair = *texts[i].pair;
    TokenLists one;
    tokens.truncated.push_back(append_ids(*served.model.file().model(), item,
                                          served.model.max_tokens(), {one.ids, one.type_ids}));
    one.end_text();
    if (one.ids.empty()) refuse("text " + std::to_string(i) + " has no tokens");
    const auto has_segment = [&](int32_t type) {
      return type == 0 || static_cast<uint32_t>(type) < info.type_vocab_size;
    };
    if (!std::all_of(one.type_ids.begin(), one.type_ids.end(), has_segment)) {
      refuse("the model tells no second text from the first: it has " +
             std::to_string(info.type_vocab_size) + " segment ids");
    }
    tokens.lists.append(one, 0, 1);
  }
  RequestMemory::current().add(tokens.lists.ids.size() * 2 * sizeof(int32_t));
  return tokens;
}

bool is_ids(const Json& value) {
  if (!value.is_array() || value.empty()) return false;
  return value[0].is_number() || value[0].is_array();
}

RequestTokens tokens_of_ids(const ServedModel& served, const Json& value) {
  RequestTokens tokens;
  if (value[0].is_number()) {
    add_ids(served, value, "input", tokens);
    return tokens;
  }
  for (size_t i = 0; i < value.size(); ++i) {
    if (!value[i].is_array()) refuse(name_of("input", i) + " is no list of token ids");
    add_ids(served, value[i], name_of("input", i), tokens);
  }
  return tokens;
}

void check_count(size_t texts, const std::string& field, const Limits& limits) {
  if (texts == 0) refuse(field + " is an empty list; it takes at least one text");
  if (texts > limits.texts) {
    throw RequestError(413, "too_many_texts",
                       field + " has " + grouped(texts) + " texts; there may be " +
                           grouped(limits.texts) + " (--max-texts)");
  }
}

Json usage_of(const RequestTokens& tokens) {
  return {{"prompt_tokens", tokens.lists.ids.size()}, {"total_tokens", tokens.lists.ids.size()}};
}

}  // namespace embert::serve
