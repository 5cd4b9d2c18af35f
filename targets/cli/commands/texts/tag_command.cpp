// SPDX-License-Identifier: Apache-2.0
// embert tag: the entities of each text, with scores and offsets.
#include <CLI/CLI.hpp>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/tasks/task_arguments.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/hosted/tasks/tag_task.hpp"

namespace embert::cli {
namespace {

struct TagArguments {
  TextCall call;
  TagOptions options;
};

void run_tag(const TagArguments& arguments) {
  const auto model = open_model(arguments.call);
  run_text_task(arguments.call, kTextForm, prepare_tag(*model, arguments.options));
}

}  // namespace

void add_tag_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tag", "Find the entities in each text");
  auto arguments = std::make_shared<TagArguments>();
  add_text_call(
      *command, arguments->call, kTextForm,
      {{"text", "windows", "entities"}, "label, score, text, words, byte_offsets, char_offsets"});
  command
      ->add_option("--aggregation", arguments->options.aggregation,
                   "What becomes one entity: none, each token; simple, neighbours of one kind; "
                   "first, average, max, neighbouring words, labelled by their first token, their "
                   "mean scores or their surest token")
      ->check(CLI::IsMember({"none", "simple", "first", "average", "max"}))
      ->type_name("NAME")
      ->capture_default_str();
  add_window_options(*command, arguments->options.windows);
  command->footer(
      "Without --json a line is: score, label, bytes from-to, text, with tabs between, and an\n"
      "empty line ends a text. Texts longer than a window are read in overlapping ones. The\n"
      "label O is no entity.\n"
      "Example:\n"
      "  embert tag names.emb \"John Smith lives in Hamburg\" --aggregation first --json");
  command->callback([arguments] { run_tag(*arguments); });
}

}  // namespace embert::cli
