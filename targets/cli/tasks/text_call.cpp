// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/tasks/text_call.hpp"

#include <CLI/CLI.hpp>

namespace embert::cli {

void add_function_option(CLI::App& command, std::string& function) {
  command
      .add_option("--function", function,
                  "What makes scores of logits: softmax, sigmoid, none; default: sigmoid for a "
                  "single label or several that are right at once, else softmax")
      ->check(CLI::IsMember({"softmax", "sigmoid", "none"}))
      ->type_name("NAME");
}

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
  command.add_flag("--json", call.json, "JSON Lines: " + json_keys);
  call.run.add_to(command);
}

}  // namespace embert::cli
