// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/common/text_task.hpp"

#include <atomic>
#include <utility>

namespace embert::hosted {

TaskLines lines_one_by_one(HostedModel& model, size_t texts, Progress& progress,
                           const LineMaker& make_line) {
  TaskLines result;
  result.lines.resize(texts);
  std::atomic<size_t> truncated = 0;
  try {
    model.team().run(
        texts,
        [&](WorkSlot& slot, size_t i) {
          try {
            TaskLine made = make_line(slot, i);
            result.lines[i] = std::move(made.line);
            truncated += made.truncated ? 1 : 0;
          } catch (const TextError& error) {
            throw TextError(i, error.what());
          }
          progress.add(1);
        },
        progress);
  } catch (const TextError& error) {  // of the first text that failed: those before have lines
    result.lines.resize(error.text);
    result.failure = error;
    return result;
  }
  progress.finish();
  result.truncated = truncated;
  return result;
}

}  // namespace embert::hosted
