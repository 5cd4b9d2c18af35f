// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/common/text_task.hpp"

namespace embert::hosted {

TaskLines lines_one_by_one(HostedModel& model, size_t texts, Progress& progress,
                           const LineMaker& make_line) {
  TaskLines result;
  result.lines.resize(texts);
  try {
    model.team().run(
        texts,
        [&](WorkSlot& slot, size_t i) {
          try {
            result.lines[i] = make_line(slot, i);
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
  return result;
}

}  // namespace embert::hosted
