// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/classify_task.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

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

RankedLabels ranked_labels(const ModelFile& file, const TextRow<int32_t>& row,
                           const ClassifyOptions& options, uint32_t top) {
  RankedLabels labels = {{}, nullptr};
  if (row.tokens == 0) return labels;
  labels.scores = rank_labels({row.values, file.info().num_labels, row.scale},
                              score_function(options.function, file.info()), top);
  if (options.threshold && labels.scores[0].score < *options.threshold) {
    labels.rejected_as = &options.reject_label;
  }
  return labels;
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

void check_classify_options(const ModelFile& file, const ClassifyOptions& options) {
  file.require_tokenizer();
  require_task(file, Task::kClassify);
  const embert_score_function function = score_function(options.function, file.info());
  if (options.threshold && function == EMBERT_SCORE_NONE) {
    throw UsageError("threshold: scores are probabilities with softmax and sigmoid only");
  }
  if (options.threshold && !(*options.threshold >= 0 && *options.threshold <= 1)) {
    throw UsageError("threshold: expected a number from 0 to 1");
  }
}

void add_labels(Json& result, const ModelFile& file, const TextRow<int32_t>& row,
                const ClassifyOptions& options) {
  const RankedLabels labels = ranked_labels(file, row, options, options.top);
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
}

TextTask prepare_classify(HostedModel& model, const ClassifyOptions& options) {
  const ModelFile& file = model.file();
  check_classify_options(file, options);
  return {[&model, &file, options](const embert_hosted_texts& texts, LineForm form,
                                   Progress& progress) {
            TaskLines result;
            result.lines.resize(texts.count);
            std::atomic<size_t> truncated = 0;
            classify_texts(model, texts, progress, [&](const TextRow<int32_t>& row) {
              const TextItem item = text_at(texts, row.text);
              truncated += row.truncated ? 1 : 0;
              if (form == LineForm::kPlain) {
                const uint32_t top = std::max(1u, options.top);
                result.lines[row.text] =
                    labels_plain(file, item, ranked_labels(file, row, options, top));
                return;
              }
              Json object = {{"text", item.text}};
              if (item.pair) object["pair"] = *item.pair;
              add_labels(object, file, row, options);
              result.lines[row.text] = json_line(object);
            });
            result.truncated = truncated;
            return result;
          },
          kSortedTextsAtOnce};
}

}  // namespace embert::hosted
