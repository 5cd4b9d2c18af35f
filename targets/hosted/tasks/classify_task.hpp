// SPDX-License-Identifier: Apache-2.0
// classify: the labels of each text, or of each pair of texts, with their scores.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "targets/hosted/line_text.hpp"
#include "targets/hosted/tasks/common/text_task.hpp"

namespace embert::hosted {

template <typename T>
struct TextRow;

/// Out of scope, as intent data sets name it (CLINC150).
inline constexpr const char* kRejectLabel = "oos";

struct ClassifyOptions {
  std::string function;  ///< softmax, sigmoid or none; empty: the model's own
  uint32_t top = 0;      ///< labels to show; 0: the best one in plain lines, all in JSON
  bool windows = false;  ///< a text that is too long is read in windows, not cut
  /// A text whose best score is below it gets reject_label; 0 to 1, nothing: no text does.
  std::optional<double> threshold;
  std::string reject_label = kRejectLabel;
};

/// Throws UsageError if the model cannot classify, or not so.
void check_classify_options(const ModelFile& file, const ClassifyOptions& options);

/// Adds the keys of --json that stand behind the text: tokens, label, score, scores, truncated. The
/// options are checked, and windows is not among them.
void add_labels(Json& result, const ModelFile& file, const TextRow<int32_t>& row,
                const ClassifyOptions& options);

TextTask prepare_classify(HostedModel& model, const ClassifyOptions& options);

}  // namespace embert::hosted
