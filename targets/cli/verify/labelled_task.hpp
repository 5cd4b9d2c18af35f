// SPDX-License-Identifier: Apache-2.0
// Measures float32 and int8 on a labelled file of `embert verify`.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "targets/cli/tool_error.hpp"
#include "targets/hosted/convert/quality.hpp"
#include "targets/hosted/convert/verify_model.hpp"

namespace embert::cli {

/// A task measured on the texts of a file.
struct TaskMeasure {
  /// The measures as {name: {float32, int8}}, larger is better, and "differing": a list of the
  /// texts with different answers {line, text, right, float32, int8}; maybe "agreement" and
  /// "answers" of the file's texts, which stand for those of their windows.
  Json json;
  Loss loss;  ///< of the measure that the verdict is about
};

/// What both models read, and what becomes of their outputs.
struct LabelledTask {
  convert::TokenBatch tokens = {};
  TextList texts = {};                        ///< one for each text of `tokens`, for people
  convert::SeeText see = {};                  ///< takes the outputs of each text, in order
  std::function<TaskMeasure()> measure = {};  ///< when all texts were seen
  std::function<Json()> differing = {};       ///< the same, of compare_answers()
};

/// The task that the model's head is for. The file must outlive it. Throws UsageError if the model
/// has no such task, InputError with the line for a file that cannot be its.
LabelledTask labelled_task(const ModelFile& file, const std::string& path);

// One for each kind of file.
LabelledTask label_task(const ModelFile& file, const std::string& path);
LabelledTask score_task(const ModelFile& file, const std::string& path);
LabelledTask span_task(const ModelFile& file, const std::string& path);
LabelledTask tag_task(const ModelFile& file, const std::string& path);

/// Of a classifier into one of several labels and texts without labels: the list of texts that get
/// different answers, {line, text, float32, int8}.
void compare_answers(const ModelFile& file, const std::vector<std::string>& lines,
                     LabelledTask& task);

/// Tokens of a text or a pair of line `entry` + 1, cut to the model's length.
void add_text(LabelledTask& task, const ModelFile& file, const TextItem& item,
              const std::string& where);

Json both_json(const BothModels& both);
/// The agreement of answers, where a file says more than its tokens: {"kind", "count", "differing"}
/// and the share that is the same.
Json answers_json(const char* kind, size_t count, size_t differing);
double agreement_of(size_t answers, size_t differing);
/// The measures with loss, loss_interval and, for a largest loss, max_loss and verdict.
Json with_verdict(const TaskMeasure& measure, const std::optional<double>& max_loss);
/// The same for people.
void write_measure(const Json& json);

}  // namespace embert::cli
