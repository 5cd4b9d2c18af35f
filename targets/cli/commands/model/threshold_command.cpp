// SPDX-License-Identifier: Apache-2.0
// embert threshold: the score below which a classifier had better reject a text, found on labelled
// texts.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/messages.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/io/progress_bar.hpp"
#include "targets/cli/io/text_file.hpp"
#include "targets/cli/model/run_options.hpp"
#include "targets/cli/tasks/task_arguments.hpp"
#include "targets/cli/tasks/threshold_curve.hpp"
#include "targets/hosted/hosted_model.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/tasks/classify_task.hpp"
#include "targets/hosted/tasks/common/logit_scores.hpp"
#include "targets/hosted/texts/run_texts.hpp"

namespace embert::cli {
namespace {

constexpr int kCurvePoints = 20;

struct ThresholdOptions {
  std::string model, labelled, function;
  std::string reject_label = kRejectLabel;
  std::optional<double> max_error, threshold;
  RunOptions run;
  bool json = false;
};

/// The right labels [texts]; nothing for a text that is to be rejected.
std::vector<std::optional<uint32_t>> right_labels(const ThresholdOptions& options,
                                                  const ModelFile& file,
                                                  const std::vector<LabelledText>& texts) {
  std::vector<std::optional<uint32_t>> labels;
  for (const LabelledText& entry : texts) {
    const std::optional<uint32_t> label = label_index(file, entry.label);
    if (!label && entry.label != options.reject_label) {
      throw InputError(line_of(options.labelled, labels.size()) + ": the model has no label \"" +
                       one_line(entry.label) + "\" (`embert inspect` lists them); texts that are " +
                       "to be rejected have the label \"" + one_line(options.reject_label) +
                       "\" (--reject-label)");
    }
    labels.push_back(entry.label == options.reject_label ? std::nullopt : label);
  }
  return labels;
}

std::vector<ScoredText> score_texts(const ThresholdOptions& options) {
  HostedModel model(options.model, {.threads = options.run.threads, .isa = options.run.isa});
  const ModelFile& file = model.file();
  file.require_tokenizer();
  require_task(file, Task::kClassify);
  const embert_score_function function = score_function(options.function, file.info());
  if (function == EMBERT_SCORE_NONE) {
    throw UsageError(quoted_path(file.path()) +
                     ": the model's scores are no probabilities; give --function");
  }
  const std::vector<LabelledText> texts = read_labelled(options.labelled, LabelledForm::kText);
  require_several_labels(options.labelled, texts);
  const auto right = right_labels(options, file, texts);
  TextList list;
  for (const LabelledText& entry : texts) list.add(entry.text);
  std::vector<ScoredText> scored(texts.size());
  const std::optional<uint32_t> reject = label_index(file, options.reject_label);
  ProgressBar bar;
  Progress progress(show_texts, &bar, texts.size());
  classify_texts(model, list.view(), progress, [&](const TextRow<int32_t>& row) {
    scored[row.text] = {kNeverAnswered, false, right[row.text].has_value()};
    if (row.tokens == 0) return;
    const LabelScore best =
        rank_labels({row.values, file.info().num_labels, row.scale}, function, 1)[0];
    if (reject == best.label) return;
    scored[row.text].score = best.score;
    scored[row.text].right = right[row.text] == best.label;
  });
  return scored;
}

Json point_json(const ThresholdPoint& point) {
  return {{"threshold", point.threshold},
          {"coverage", point.coverage},
          {"error", point.error},
          {"accuracy", point.accuracy},
          {"known_answered", point.known_answered},
          {"unknown_answered", point.unknown_answered}};
}

std::string in_columns(const std::vector<std::string>& words) {
  constexpr size_t kColumn = 18;
  std::string line;
  for (const std::string& word : words) {
    line += std::string(kColumn - std::min(word.size(), kColumn), ' ') + word;
  }
  return line;
}

std::string point_line(const ThresholdPoint& point) {
  return in_columns({fixed(point.threshold, 3), fixed(point.coverage, 4), fixed(point.error, 4),
                     fixed(point.accuracy, 4), fixed(point.known_answered, 4),
                     fixed(point.unknown_answered, 4)});
}

ThresholdPoint chosen_point(const ThresholdOptions& options, const ThresholdCurve& curve) {
  if (options.threshold) return curve.at(*options.threshold);
  if (!options.max_error) return curve.most_accurate();
  const std::optional<ThresholdPoint> point = curve.within_error(*options.max_error);
  if (point) return *point;
  throw InputError(quoted_path(options.labelled) + ": no threshold that answers a text has an " +
                   "error of " + fixed(*options.max_error, 4) +
                   " or less; allow a larger "
                   "--max-error");
}

void run_threshold(const ThresholdOptions& options) {
  const std::vector<ScoredText> texts = score_texts(options);
  const auto unknown = static_cast<size_t>(std::count_if(
      texts.begin(), texts.end(), [](const ScoredText& text) { return !text.known; }));
  if (unknown == 0) {
    note("no text has the label \"" + options.reject_label +
         "\": the threshold is chosen without texts that are to be rejected");
  }
  const ThresholdCurve curve(texts);
  const ThresholdPoint chosen = chosen_point(options, curve);
  if (options.json) {
    Json points = Json::array();
    for (int i = 0; i <= kCurvePoints; ++i) {
      points.push_back(point_json(curve.at(static_cast<double>(i) / kCurvePoints)));
    }
    Json json = {{"texts", texts.size()}, {"unknown", unknown}};
    json.update(point_json(chosen));
    json["curve"] = std::move(points);
    return output().json(json);
  }
  output().line(std::to_string(texts.size()) + " texts, " + std::to_string(unknown) +
                " of them unknown");
  output().line(in_columns(
      {"threshold", "coverage", "error", "accuracy", "known_answered", "unknown_answered"}));
  bool shown = false;
  for (int i = 0; i <= kCurvePoints; ++i) {
    const ThresholdPoint point = curve.at(static_cast<double>(i) / kCurvePoints);
    if (!shown && chosen.threshold <= point.threshold) {
      shown = true;
      output().line(coloured(point_line(chosen) + "  <- chosen", Colour::kBold, STDOUT_FILENO));
      if (chosen.threshold == point.threshold) continue;
    }
    output().line(point_line(point));
  }
}

}  // namespace

void add_threshold_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "threshold", "Find the score below which a classifier had better reject a text");
  auto options = std::make_shared<ThresholdOptions>();
  add_model_argument(*command, options->model);
  command
      ->add_option("--labelled", options->labelled,
                   "Lines of a text, a tab and its label; -: stdin. Texts that the model is to "
                   "reject have the label of --reject-label")
      ->required()
      ->type_name("FILE");
  add_reject_label_option(*command, options->reject_label);
  add_function_option(*command, options->function);
  auto* most = command
                   ->add_option("--max-error", options->max_error,
                                "Choose the threshold that answers the most texts with at most "
                                "this share of wrong answers; default: the one with the best "
                                "accuracy")
                   ->check(share_of_one())
                   ->type_name("E");
  command->add_option("--threshold", options->threshold, "Choose none: show what this one does")
      ->check(share_of_one())
      ->excludes(most)
      ->type_name("P");
  command->add_flag("--json", options->json,
                    "One JSON object: texts, unknown, threshold, coverage, error, accuracy, "
                    "known_answered, unknown_answered, curve");
  add_output_option(*command);
  options->run.add_to(*command);
  command->footer(
      "coverage: share of the texts that are answered. error: share of the answers that are "
      "wrong;\n"
      "an unknown text has no right answer. accuracy: share of all texts that are answered "
      "rightly,\n"
      "or are unknown and rejected.\n"
      "Example:\n"
      "  embert threshold intent.emb --labelled validation.tsv --max-error 0.05\n"
      "  embert threshold intent.emb --labelled test.tsv --threshold 0.42\n"
      "  embert classify intent.emb --threshold 0.42 < lines.txt");
  command->callback([options] { run_threshold(*options); });
}

}  // namespace embert::cli
