// SPDX-License-Identifier: Apache-2.0
// embert_hosted_run_task and embert_hosted_inspect: JSON for the caller.
#include "targets/hosted/c_api/hosted_calls.hpp"
#include "targets/hosted/model/inspection.hpp"
#include "targets/hosted/tasks/task_by_name.hpp"

using namespace embert::hosted;

embert_hosted_result embert_hosted_run_task(embert_hosted* model, const char* task,
                                            const embert_hosted_texts* texts, const char* options,
                                            char** json) {
  return guarded([&] {
    require(json, "json");
    *json = nullptr;
    require(model, "model");
    require(task, "task");
    model->model.team();
    const embert_hosted_texts list = checked_texts(texts);
    const TextTask prepared = task_by_name(model->model, task, options);
    Progress progress = progress_of(list);
    const TaskLines result = prepared.run(list, LineForm::kJson, progress);
    if (result.failure) throw *result.failure;
    std::string array = "[";
    for (const std::string& line : result.lines) {
      if (array.size() > 1) array += ",\n";
      array += line;
    }
    *json = copy_for_caller(array + "]");
  });
}

embert_hosted_result embert_hosted_inspect(embert_hosted* model, char** json) {
  return guarded([&] {
    require(json, "json");
    *json = nullptr;
    require(model, "model");
    *json = copy_for_caller(json_line(inspect_model(model->model.file())));
  });
}
