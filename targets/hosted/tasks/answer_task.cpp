// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/answer_task.hpp"

#include <algorithm>

#include "targets/hosted/line_text.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/tasks/common/logit_scores.hpp"
#include "targets/hosted/tasks/common/token_logits.hpp"

namespace embert::hosted {
namespace {

std::string answers_text(const TextItem& item, size_t windows,
                         const std::vector<embert_answer>& answers, LineForm form) {
  Json list = Json::array();
  std::string line;
  for (const embert_answer& answer : answers) {
    const std::string_view text = answer_text(answer, *item.pair);
    const double score = score_of_log2(answer.log2_score);
    line += fixed(score, 4) + '\t' + one_line(text) + '\t';
    list.push_back({{"answer", text},
                    {"score", score},
                    {"byte_offsets", {answer.byte_begin, answer.byte_end}},
                    {"char_offsets", {answer.char_begin, answer.char_end}}});
  }
  if (form == LineForm::kPlain) return line + one_line(item.text);
  return json_line({{"question", item.text}, {"windows", windows}, {"answers", std::move(list)}});
}

}  // namespace

std::vector<embert_answer> best_answers(const AnswerOptions& options,
                                        std::span<const TextTokens> windows,
                                        std::span<const TokenLogits> logits) {
  embert_answer_options decoding = embert_answer_options_default();
  decoding.max_answer_tokens = options.max_answer_tokens;
  decoding.allow_no_answer = options.allow_no_answer ? 1 : 0;
  std::vector<embert_answer> answers(options.top);
  embert_answers list = {};
  check(embert_answers_begin(&list, &decoding, logits[0].scale, answers.data(), answers.size()),
        "embert_answers_begin");
  for (size_t i = 0; i < windows.size(); ++i) {
    const TextTokens& tokens = windows[i];
    embert_answer_window window = {.size = sizeof(window)};
    window.logits = logits[i].values.data();
    window.sequence_ids = tokens.sequence_ids.data();
    window.word_ids = tokens.word_ids.data();
    window.byte_offsets = tokens.byte_offsets.data();
    window.char_offsets = tokens.char_offsets.data();
    window.tokens = tokens.ids.size();
    check(embert_answers_add(&list, &window), "embert_answers_add");
  }
  check(embert_answers_finish(&list), "embert_answers_finish");
  answers.resize(list.count);
  return answers;
}

std::string_view answer_text(const embert_answer& answer, std::string_view context) {
  return context.substr(answer.byte_begin, answer.byte_end - answer.byte_begin);
}

void check_not_empty(const TextTokens& tokens) {
  constexpr const char* kNames[] = {"question", "context"};
  for (const int32_t sequence : {0, 1}) {
    const auto& ids = tokens.sequence_ids;
    if (std::find(ids.begin(), ids.end(), sequence) != ids.end()) continue;
    throw TextError(0, std::string("the ") + kNames[sequence] + " is empty (" +
                           embert_status_name(EMBERT_STATUS_EMPTY_INPUT) + ")");
  }
}

TextTask prepare_answer(HostedModel& model, const AnswerOptions& options) {
  const ModelFile& file = model.file();
  file.require_tokenizer();
  require_task(file, Task::kAnswer);
  const uint32_t most = window_size(file, options.windows, model.max_tokens());
  return {[&model, &file, most, options](const embert_hosted_texts& texts, LineForm form,
                                         Progress& progress) {
            if (texts.count > 0 && texts.pair_offsets == nullptr) {
              throw UsageError("answer takes pairs of texts: question and context");
            }
            return lines_one_by_one(model, texts.count, progress, [&](WorkSlot& slot, size_t i) {
              const TextItem item = text_at(texts, i);
              const auto windows = windows_of(*file.model(), item, {most, options.windows.stride});
              check_not_empty(windows[0]);
              std::vector<TokenLogits> logits;
              for (const TextTokens& window : windows) {
                logits.push_back(classify_tokens(file, slot, window));
              }
              return answers_text(item, windows.size(), best_answers(options, windows, logits),
                                  form);
            });
          },
          kSingleTextsAtOnce};
}

}  // namespace embert::hosted
