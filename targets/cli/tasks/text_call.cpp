// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/tasks/text_call.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "targets/cli/io/output.hpp"

namespace embert::cli {

void add_text_call(CLI::App& command, TextCall& call, const RecordForm& form,
                   const std::string& json_keys) {
  add_model_argument(command, call.model);
  add_text_arguments(command, call.input.arguments,
                     form.is_single_text()
                         ? "Texts; without any, the lines of stdin; behind -- any text"
                         : form.listed_names() +
                               "; without any, the lines of stdin with tabs between; behind -- "
                               "any text");
  command.add_flag("--jsonl", call.input.jsonl,
                   "Lines of stdin are JSON objects with the keys " + form.listed_names());
  add_line_limit(command, call.input.max_line_bytes);
  command.add_flag("--json", call.json, "JSON Lines: " + json_keys);
  call.run.add_to(command);
}

std::unique_ptr<HostedModel> open_model(const TextCall& call) {
  auto model = std::make_unique<HostedModel>(
      call.model, ModelOptions{.threads = call.run.threads, .isa = call.run.isa});
  if (model->threads() < call.run.threads) {
    note("--threads " + std::to_string(call.run.threads) + ": this process may use " +
         std::to_string(model->threads()));
  }
  return model;
}

TextList list_of(const std::vector<Record>& records) {
  TextList list;
  for (const Record& record : records) {
    record.texts.size() > 1 ? list.add(record.texts[0], record.texts[1])
                            : list.add(record.texts[0]);
  }
  return list;
}

TextList list_with_first(const Record& record) {
  TextList list;
  for (size_t i = 1; i < record.texts.size(); ++i) list.add(record.texts[0], record.texts[i]);
  return list;
}

void for_records(const TextCall& call, const RecordForm& form, size_t most,
                 const std::function<void(const std::vector<Record>& records)>& use) {
  RecordSource source(call.input, form);
  for (auto records = source.next(most); !records.empty(); records = source.next(most)) {
    try {
      use(records);
    } catch (const TextError& error) {
      // Of a record with a list of texts, the index is that of a text in it.
      records[std::min(error.text, records.size() - 1)].refuse(error.what());
    }
  }
}

void run_text_task(const TextCall& call, const RecordForm& form, const TextTask& task) {
  const LineForm line_form = call.json ? LineForm::kJson : LineForm::kPlain;
  for_records(call, form, task.texts_at_once, [&](const std::vector<Record>& records) {
    Progress no_progress(nullptr, nullptr, 0);
    const TextList list = list_of(records);
    const TaskLines result = task.run(list.view(), line_form, no_progress);
    for (const std::string& line : result.lines) output().line(line);
    if (result.failure) throw *result.failure;
  });
}

}  // namespace embert::cli
