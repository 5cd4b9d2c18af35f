// SPDX-License-Identifier: Apache-2.0
// embert fill-mask: the most probable tokens for each mask of a text.
#include <CLI/CLI.hpp>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/hosted/tasks/fill_mask_task.hpp"

namespace embert::cli {
namespace {

struct FillMaskArguments {
  TextCall call;
  FillMaskOptions options;
};

void run_fill_mask(const FillMaskArguments& arguments) {
  const auto model = open_model(arguments.call);
  run_text_task(arguments.call, kTextForm, prepare_fill_mask(*model, arguments.options));
}

}  // namespace

void add_fill_mask_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("fill-mask", "Fill the masks of a text with words");
  auto arguments = std::make_shared<FillMaskArguments>();
  add_text_call(*command, arguments->call, kTextForm,
                {{"text", "tokens", "masks"}, "position and words with word, score, id, sequence"});
  add_on_long_option(*command, arguments->call);
  command->add_option("--top", arguments->options.top, "How many words to show for a mask")
      ->check(CLI::Range(1, 1000))
      ->type_name("K")
      ->capture_default_str();
  command->add_option("--targets", arguments->options.targets, "Only these words, each a token")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("WORD,WORD,...");
  command->footer(
      "Without --json a line, one a mask, is: score, word (K times), text, with tabs between.\n"
      "Scores are shares of the whole vocabulary.\n"
      "Example:\n"
      "  embert fill-mask bert.emb \"Paris is the [MASK] of France.\"\n"
      "  embert fill-mask bert.emb \"The [MASK] sat on the mat.\" --targets cat,dog --json");
  command->callback([arguments] { run_fill_mask(*arguments); });
}

}  // namespace embert::cli
