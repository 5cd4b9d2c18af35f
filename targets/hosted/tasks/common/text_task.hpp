// SPDX-License-Identifier: Apache-2.0
// A task of the tool: texts in, a line for each of them out. The tool and embert_hosted_run_task
// both get their lines here.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/hosted_model.hpp"
#include "targets/hosted/texts/text_list.hpp"
#include "targets/hosted/threads/progress.hpp"

namespace embert::hosted {

enum class LineForm {
  kJson,  ///< a JSON object
  kPlain  ///< columns with tabs between; a text may have several lines
};

/// The lines of a list of texts, without the line end behind the last.
struct TaskLines {
  std::vector<std::string> lines;    ///< [texts], or those before the one that failed
  std::optional<TextError> failure;  ///< the first text that lacks what the task needs
  size_t truncated = 0;              ///< texts that were cut to the model's length
};

/// A task made ready for a model: its options are checked.
struct TextTask {
  std::function<TaskLines(const embert_hosted_texts& texts, LineForm form, Progress& progress)> run;
  /// Texts of a call that are enough to keep the threads busy. Results come out after each call.
  size_t texts_at_once;
};

/// For tasks that sort their texts by length.
constexpr size_t kSortedTextsAtOnce = 2048;
/// For tasks that compute one text after another.
constexpr size_t kSingleTextsAtOnce = 64;

/// The key of a JSON line whose text was cut; other lines lack it.
inline constexpr const char* kTruncatedKey = "truncated";

/// The key of a JSON line whose text was too long and was read in so many windows, not cut.
inline constexpr const char* kWindowsKey = "windows";

/// The line of one text.
struct TaskLine {
  /// Implicit: most tasks cut no text and return the line alone.
  TaskLine(std::string text, bool is_truncated = false)
      : line(std::move(text)), truncated(is_truncated) {}

  std::string line;
  bool truncated;  ///< the text was cut to the model's length
};

/// Makes the line of text i with a slot; throws TextError with index 0 for a text that fails.
using LineMaker = std::function<TaskLine(WorkSlot& slot, size_t i)>;

/// Calls make_line for each text in the model's threads, one text an item.
TaskLines lines_one_by_one(HostedModel& model, size_t texts, Progress& progress,
                           const LineMaker& make_line);

}  // namespace embert::hosted
