// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/classify_task.hpp"

#include "targets/hosted/line_text.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/tasks/common/logit_scores.hpp"
#include "targets/hosted/texts/run_texts.hpp"

namespace embert::hosted {
namespace {

std::string labels_json(const ModelFile& file, const TextItem& item, size_t tokens,
                        const std::vector<LabelScore>& scores) {
  Json result = {{"text", item.text}};
  if (item.pair) result["pair"] = *item.pair;
  result["tokens"] = tokens;
  Json ranked;  // stays null if there are no scores
  for (const LabelScore& entry : scores) {
    ranked.push_back({{"label", label_name(file, entry.label)}, {"score", entry.score}});
  }
  result["label"] = ranked.is_null() ? Json() : ranked[0]["label"];
  result["score"] = ranked.is_null() ? Json() : ranked[0]["score"];
  result["scores"] = std::move(ranked);
  return json_line(result);
}

std::string labels_plain(const ModelFile& file, const TextItem& item,
                         const std::vector<LabelScore>& scores) {
  if (scores.empty()) return "";
  std::string line;
  for (const LabelScore& entry : scores) {
    line += fixed(entry.score, 4) + '\t' + one_line(label_name(file, entry.label)) + '\t';
  }
  line += one_line(item.text);
  if (item.pair) line += '\t' + one_line(*item.pair);
  return line;
}

}  // namespace

TextTask prepare_classify(HostedModel& model, const ClassifyOptions& options) {
  const ModelFile& file = model.file();
  file.require_tokenizer();
  require_task(file, Task::kClassify);
  const embert_score_function function = score_function(options.function, file.info());
  return {
      [&model, &file, function, options](const embert_hosted_texts& texts, LineForm form,
                                         Progress& progress) {
        const bool json = form == LineForm::kJson;
        const uint32_t top = options.top != 0 ? options.top : json ? 0 : 1;
        TaskLines result;
        result.lines.resize(texts.count);
        classify_texts(model, texts, progress, [&](const TextRow<int32_t>& row) {
          const TextItem item = text_at(texts, row.text);
          std::vector<LabelScore> scores;
          if (row.tokens > 0) {
            scores = rank_labels({row.values, file.info().num_labels, row.scale}, function, top);
          }
          result.lines[row.text] =
              json ? labels_json(file, item, row.tokens, scores) : labels_plain(file, item, scores);
        });
        return result;
      },
      kSortedTextsAtOnce};
}

}  // namespace embert::hosted
