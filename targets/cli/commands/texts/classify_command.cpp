// SPDX-License-Identifier: Apache-2.0
// embert classify: the labels of each text, or of each pair of texts, with their scores.
#include <CLI/CLI.hpp>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/tasks/task_arguments.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/hosted/tasks/classify_task.hpp"

namespace embert::cli {
namespace {

struct ClassifyArguments {
  TextCall call;
  bool pairs = false;
  ClassifyOptions options;
};

void run_classify(const ClassifyArguments& arguments) {
  const auto model = open_model(arguments.call);
  ClassifyOptions options = arguments.options;
  options.windows = arguments.call.reads_windows();
  run_text_task(arguments.call, arguments.pairs ? kPairForm : kTextForm,
                prepare_classify(*model, options));
}

}  // namespace

void add_classify_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("classify", "Show the best labels for each text");
  auto arguments = std::make_shared<ClassifyArguments>();
  add_text_call(*command, arguments->call, kTextForm,
                {{"text", "tokens", "label", "score", "scores"}, ""});
  add_on_long_windows_option(*command, arguments->call, "scores");
  command->add_flag("--pairs", arguments->pairs,
                    "Two texts that belong together: as arguments, in lines with a tab between, "
                    "with --jsonl the keys text and pair");
  add_function_option(*command, arguments->options.function);
  command
      ->add_option("--threshold", arguments->options.threshold,
                   "A text whose best score is below P gets the label of --reject-label; "
                   "`embert threshold` finds a good one")
      ->check(share_of_one())
      ->type_name("P");
  add_reject_label_option(*command, arguments->options.reject_label);
  command
      ->add_option("--top", arguments->options.top,
                   "How many labels to show; default: 1, all with --json")
      ->check(CLI::Range(1, 4096))
      ->type_name("K");
  command->footer(
      "Without --json a line is: score, label (K times), text, with tabs between.\n"
      "A text without tokens, as an empty line where the model adds no special tokens, gets an\n"
      "empty line, with --json the label, score and scores null.\n"
      "Example:\n"
      "  embert classify intent.emb \"book me a flight to Paris\" --top 3\n"
      "  embert classify intent.emb --json < lines.txt > labels.jsonl");
  command->callback([arguments] { run_classify(*arguments); });
}

}  // namespace embert::cli
