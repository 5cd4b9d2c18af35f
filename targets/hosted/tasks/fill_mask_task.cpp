// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/fill_mask_task.hpp"

#include <algorithm>

#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "targets/hosted/line_text.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/tasks/common/logit_scores.hpp"
#include "targets/hosted/tasks/common/token_logits.hpp"

namespace embert::hosted {
namespace {

/// The mask token and the tokens of targets.
struct MaskTokens {
  int32_t mask_id;
  std::vector<embert_candidate> targets;  ///< empty: the whole vocabulary
};

/// Returns the id of the mask token; throws if the vocabulary has none.
int32_t mask_id_of(const ModelFile& file) {
  embert_tokenizer_info info = {.size = sizeof(info)};
  check(embert_model_get_tokenizer(file.model(), &info), "embert_model_get_tokenizer");
  if (info.mask_id == UINT32_MAX) {
    throw UsageError(quoted_path(file.path()) + ": the vocabulary has no mask token (" +
                     embert_status_name(EMBERT_STATUS_NO_MASK_TOKEN) + ")");
  }
  return static_cast<int32_t>(info.mask_id);
}

/// Returns the tokens of targets.
std::vector<embert_candidate> target_tokens(const ModelFile& file,
                                            const std::vector<std::string>& words) {
  embert_tokenizer_info info = {.size = sizeof(info)};
  check(embert_model_get_tokenizer(file.model(), &info), "embert_model_get_tokenizer");
  std::vector<embert_candidate> candidates;
  for (const std::string& word : words) {
    const std::vector<int32_t> ids = plain_ids(*file.model(), word);
    if (ids.size() != 1 || static_cast<uint32_t>(ids[0]) == info.unk_id) {
      throw UsageError("targets \"" + one_line(word) +
                       "\": a mask stands for one token of the vocabulary" +
                       (ids.size() == 1 ? "" : ", this is " + std::to_string(ids.size())));
    }
    candidates.push_back({ids[0], 0, 0, 0});
  }
  return candidates;
}

/// Returns the best tokens for a position of the last run; only among `targets` if there are any.
std::vector<embert_candidate> best_tokens(embert_engine* engine, uint32_t row, uint32_t top,
                                          std::vector<embert_candidate> targets) {
  const bool is_free = targets.empty();
  if (is_free) targets.resize(top);
  embert_candidates list = {
      .items = targets.data(), .capacity = targets.size(), .count = targets.size()};
  if (is_free) {
    check(embert_lm_top(engine, row, &list, nullptr, nullptr), "embert_lm_top");
  } else {
    check(embert_lm_score(engine, row, &list, nullptr, nullptr), "embert_lm_score");
    check(embert_rank_candidates(&list), "embert_rank_candidates");
  }
  targets.resize(std::min<size_t>(list.count, top));
  return targets;
}

/// Returns the JSON value for the candidates of one mask. The only mask of a text shows its
/// sequences without special tokens.
Json candidates_json(const embert_model& model, const TextTokens& tokens, uint32_t position,
                     bool is_only_mask, const std::vector<embert_candidate>& candidates) {
  Json list = Json::array();
  std::vector<int32_t> ids = tokens.ids;
  for (const embert_candidate& candidate : candidates) {
    ids[position] = candidate.id;
    const std::string text = text_of(model, {candidate.id}, false);
    list.push_back({{"word", text.empty() ? Json() : Json(text)},
                    {"score", score_of_log2(candidate.log2_score)},
                    {"id", candidate.id},
                    {"sequence", text_of(model, ids, is_only_mask)}});
  }
  return list;
}

/// Shows the candidates of one mask, as candidates_json() returns them, on a line of text.
std::string mask_line(std::string_view text, const Json& words) {
  std::string line;
  for (const Json& word : words) {
    const std::string name = word["word"].is_null() ? "id " + word["id"].dump()
                                                    : one_line(word["word"].get<std::string>());
    line += fixed(word["score"].get<double>(), 4) + '\t' + name + '\t';
  }
  return line + one_line(text);
}

/// The options and the model of a call.
struct FillMask {
  const HostedModel& model;
  const MaskTokens& mask_tokens;
  uint32_t top;
};

TaskLine filled_masks(const FillMask& call, WorkSlot& slot, const TextItem& item, LineForm form) {
  const ModelFile& file = call.model.file();
  const embert_model& model = *file.model();
  const int32_t mask_id = call.mask_tokens.mask_id;
  const TextTokens tokens = tokenize_text(model, item, call.model.max_tokens());
  call.model.check_cut(tokens.truncated);
  std::vector<uint32_t> positions;
  for (uint32_t i = 0; i < tokens.ids.size(); ++i) {
    if (tokens.ids[i] == mask_id) positions.push_back(i);
  }
  if (positions.empty()) {
    throw TextError(0, "no mask token " + std::string(token_string(model, mask_id)) +
                           " in the first " + std::to_string(call.model.max_tokens()) +
                           " tokens of the text (" +
                           embert_status_name(EMBERT_STATUS_NO_MASK_TOKEN) + ")");
  }
  embert_engine* engine = run_text(file, slot, tokens);
  Json masks = Json::array();
  std::string lines;
  for (const uint32_t position : positions) {
    Json words = candidates_json(model, tokens, position, positions.size() == 1,
                                 best_tokens(engine, position, call.top, call.mask_tokens.targets));
    lines += (lines.empty() ? "" : "\n") + mask_line(item.text, words);
    masks.push_back({{"position", position}, {"words", std::move(words)}});
  }
  if (form == LineForm::kPlain) return {lines, tokens.truncated};
  Json result = {{"text", item.text}, {"tokens", tokens.ids.size()}, {"masks", std::move(masks)}};
  if (tokens.truncated) result[kTruncatedKey] = true;
  return {json_line(result), tokens.truncated};
}

}  // namespace

TextTask prepare_fill_mask(HostedModel& model, const FillMaskOptions& options) {
  const ModelFile& file = model.file();
  file.require_tokenizer();
  require_task(file, Task::kFillMask);
  const MaskTokens mask_tokens = {mask_id_of(file), target_tokens(file, options.targets)};
  return {[&model, mask_tokens, top = options.top](const embert_hosted_texts& texts, LineForm form,
                                                   Progress& progress) {
            return lines_one_by_one(model, texts.count, progress, [&](WorkSlot& slot, size_t i) {
              return filled_masks({model, mask_tokens, top}, slot, text_at(texts, i), form);
            });
          },
          kSingleTextsAtOnce};
}

}  // namespace embert::hosted
