// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/classify_task.hpp"

#include <atomic>

#include "targets/hosted/line_text.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/tasks/common/logit_scores.hpp"
#include "targets/hosted/texts/run_texts.hpp"

namespace embert::hosted {
namespace {

/// The labels of a text, best first; none if it has no tokens.
struct RankedLabels {
  std::vector<LabelScore> scores;
  const std::string* rejected_as;  ///< null: the best score reaches the threshold
};

std::string labels_json(const ModelFile& file, const TextItem& item, const TextRow<int32_t>& row,
                        const RankedLabels& labels) {
  Json result = {{"text", item.text}};
  if (item.pair) result["pair"] = *item.pair;
  result["tokens"] = row.tokens;
  Json ranked;  // stays null if there are no scores
  for (const LabelScore& entry : labels.scores) {
    ranked.push_back({{"label", label_name(file, entry.label)}, {"score", entry.score}});
  }
  result["label"] = labels.rejected_as != nullptr ? Json(*labels.rejected_as)
                    : ranked.is_null()            ? Json()
                                                  : ranked[0]["label"];
  result["score"] = ranked.is_null() ? Json() : ranked[0]["score"];
  result["scores"] = std::move(ranked);
  if (row.truncated) result[kTruncatedKey] = true;
  return json_line(result);
}

std::string labels_plain(const ModelFile& file, const TextItem& item, const RankedLabels& labels) {
  if (labels.scores.empty()) return "";
  std::string line;
  if (labels.rejected_as != nullptr) {
    line = fixed(labels.scores[0].score, 4) + '\t' + one_line(*labels.rejected_as) + '\t';
  } else {
    for (const LabelScore& entry : labels.scores) {
      line += fixed(entry.score, 4) + '\t' + one_line(label_name(file, entry.label)) + '\t';
    }
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
  if (options.threshold && function == EMBERT_SCORE_NONE) {
    throw UsageError("threshold: scores are probabilities with softmax and sigmoid only");
  }
  if (options.threshold && !(*options.threshold >= 0 && *options.threshold <= 1)) {
    throw UsageError("threshold: expected a number from 0 to 1");
  }
  return {[&model, &file, function, options](const embert_hosted_texts& texts, LineForm form,
                                             Progress& progress) {
            const bool json = form == LineForm::kJson;
            const uint32_t top = options.top != 0 ? options.top : json ? 0 : 1;
            TaskLines result;
            result.lines.resize(texts.count);
            std::atomic<size_t> truncated = 0;
            classify_texts(model, texts, progress, [&](const TextRow<int32_t>& row) {
              const TextItem item = text_at(texts, row.text);
              truncated += row.truncated ? 1 : 0;
              RankedLabels labels = {{}, nullptr};
              if (row.tokens > 0) {
                labels.scores =
                    rank_labels({row.values, file.info().num_labels, row.scale}, function, top);
                if (options.threshold && labels.scores[0].score < *options.threshold) {
                  labels.rejected_as = &options.reject_label;
                }
              }
              result.lines[row.text] =
                  json ? labels_json(file, item, row, labels) : labels_plain(file, item, labels);
            });
            result.truncated = truncated;
            return result;
          },
          kSortedTextsAtOnce};
}

}  // namespace embert::hosted
