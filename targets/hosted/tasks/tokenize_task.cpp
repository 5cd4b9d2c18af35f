// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/tokenize_task.hpp"

#include "targets/hosted/line_text.hpp"
#include "targets/hosted/model/text_tokens.hpp"

namespace embert::hosted {
namespace {

Json offset_pairs(const std::vector<uint32_t>& offsets) {
  Json pairs = Json::array();
  for (size_t i = 0; i + 1 < offsets.size(); i += 2) {
    pairs.push_back(Json::array({offsets[i], offsets[i + 1]}));
  }
  return pairs;
}

std::string tokens_json(const embert_model& model, const TextItem& item, const TextTokens& tokens) {
  Json strings = Json::array();
  for (const int32_t id : tokens.ids) strings.push_back(token_string(model, id));
  Json word_ids = Json::array();
  for (const int32_t word : tokens.word_ids) word_ids.push_back(word < 0 ? Json() : Json(word));
  Json result = {{"text", item.text}};
  if (item.pair) result["pair"] = *item.pair;
  result["ids"] = tokens.ids;
  result["type_ids"] = tokens.type_ids;
  result["tokens"] = std::move(strings);
  result["byte_offsets"] = offset_pairs(tokens.byte_offsets);
  result["char_offsets"] = offset_pairs(tokens.char_offsets);
  result["word_ids"] = std::move(word_ids);
  if (tokens.truncated) result[kTruncatedKey] = true;
  return json_line(result);
}

std::string tokens_plain(const embert_model& model, const TextTokens& tokens) {
  std::string line;
  for (const int32_t id : tokens.ids) {
    if (!line.empty()) line += ' ';
    line += one_line(token_string(model, id));
  }
  return line;
}

}  // namespace

TextTask prepare_tokenize(HostedModel& model) {
  model.file().require_tokenizer();
  return {[&model](const embert_hosted_texts& texts, LineForm form, Progress& progress) {
            return lines_one_by_one(model, texts.count, progress, [&](WorkSlot&, size_t i) {
              const embert_model& tokenizer = *model.file().model();
              const TextItem item = text_at(texts, i);
              const TextTokens tokens = tokenize_text(tokenizer, item, model.max_tokens());
              model.check_cut(tokens.truncated);
              return TaskLine(form == LineForm::kJson ? tokens_json(tokenizer, item, tokens)
                                                      : tokens_plain(tokenizer, tokens),
                              tokens.truncated);
            });
          },
          kSortedTextsAtOnce};
}

}  // namespace embert::hosted
