// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/classify_task.hpp"

#include <algorithm>
#include <utility>

#include "targets/hosted/line_text.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/tasks/common/logit_scores.hpp"
#include "targets/hosted/texts/long_texts.hpp"
#include "targets/hosted/texts/run_texts.hpp"

namespace embert::hosted {
namespace {

/// The labels of a text, best first; none if it has no tokens.
struct RankedLabels {
  std::vector<LabelScore> scores;
  const std::string* rejected_as;  ///< null: the best score reaches the threshold
};

RankedLabels with_threshold(std::vector<LabelScore> scores, const ClassifyOptions& options) {
  const bool rejected =
      options.threshold && !scores.empty() && scores[0].score < *options.threshold;
  return {std::move(scores), rejected ? &options.reject_label : nullptr};
}

/// `top` labels; 0: all.
RankedLabels ranked_labels(const ModelFile& file, const TextRow<int32_t>& row,
                           const ClassifyOptions& options, uint32_t top) {
  if (row.tokens == 0) return {{}, nullptr};
  return with_threshold(rank_labels({row.values, file.info().num_labels, row.scale},
                                    score_function(options.function, file.info()), top),
                        options);
}

/// The labels of a text that is read in windows.
RankedLabels ranked_means(const LongScores& means, const ClassifyOptions& options, uint32_t top) {
  std::vector<LabelScore> scores;
  for (const double score : means.scores) {
    scores.push_back({static_cast<uint32_t>(scores.size()), score});
  }
  std::stable_sort(scores.begin(), scores.end(),
                   [](const LabelScore& a, const LabelScore& b) { return a.score > b.score; });
  if (top > 0 && top < scores.size()) scores.resize(top);
  return with_threshold(std::move(scores), options);
}

/// The keys behind the text.
void add_ranked(Json& result, const ModelFile& file, const RankedLabels& labels, uint32_t tokens) {
  result["tokens"] = tokens;
  Json ranked = labels.scores.empty() ? Json() : Json::array();
  for (const LabelScore& entry : labels.scores) {
    ranked.push_back({{"label", label_name(file, entry.label)}, {"score", entry.score}});
  }
  result["label"] = labels.rejected_as != nullptr ? Json(*labels.rejected_as)
                    : ranked.is_null()            ? Json()
                                                  : ranked[0]["label"];
  result["score"] = ranked.is_null() ? Json() : ranked[0]["score"];
  result["scores"] = std::move(ranked);
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
  add_ranked(result, file, ranked_labels(file, row, options, options.top), row.tokens);
  if (row.truncated) result[kTruncatedKey] = true;
}

namespace {

Json item_json(const TextItem& item) {
  Json object = {{"text", item.text}};
  if (item.pair) object["pair"] = *item.pair;
  return object;
}

std::string long_line(HostedModel& model, const TextItem& item, const ClassifyOptions& options,
                      LineForm form) {
  const ModelFile& file = model.file();
  const LongScores means =
      classify_long_text(model, item, score_function(options.function, file.info()));
  if (form == LineForm::kPlain) {
    return labels_plain(file, item, ranked_means(means, options, std::max(1u, options.top)));
  }
  Json object = item_json(item);
  add_ranked(object, file, ranked_means(means, options, options.top), means.tokens);
  object[kWindowsKey] = means.windows;
  return json_line(object);
}

/// The lines of all texts; of those that are to be read in windows at the end.
TaskLines classify_lines(HostedModel& model, const ClassifyOptions& options,
                         const embert_hosted_texts& texts, LineForm form, Progress& progress) {
  const ModelFile& file = model.file();
  TaskLines result;
  result.lines.resize(texts.count);
  std::vector<uint8_t> truncated(texts.count);
  const auto write_line = [&](const TextRow<int32_t>& row) {
    const TextItem item = text_at(texts, row.text);
    truncated[row.text] = row.truncated ? 1 : 0;
    if (row.truncated && options.windows) return;
    if (form == LineForm::kPlain) {
      const uint32_t top = std::max(1u, options.top);
      result.lines[row.text] = labels_plain(file, item, ranked_labels(file, row, options, top));
      return;
    }
    Json object = item_json(item);
    add_labels(object, file, row, options);
    result.lines[row.text] = json_line(object);
  };
  classify_texts(model, texts, progress, write_line,
                 options.windows ? LongTexts::kLeftOut : LongTexts::kCut);
  result.truncated =
      options.windows ? 0 : static_cast<size_t>(std::count(truncated.begin(), truncated.end(), 1));
  for (size_t i = 0; options.windows && i < texts.count; ++i) {
    if (truncated[i] == 0) continue;
    for_text(i, [&] { result.lines[i] = long_line(model, text_at(texts, i), options, form); });
  }
  return result;
}

}  // namespace

TextTask prepare_classify(HostedModel& model, const ClassifyOptions& options) {
  check_classify_options(model.file(), options);
  return {[&model, options](const embert_hosted_texts& texts, LineForm form, Progress& progress) {
            return classify_lines(model, options, texts, form, progress);
          },
          kSortedTextsAtOnce};
}

}  // namespace embert::hosted
