// SPDX-License-Identifier: Apache-2.0
// embert generate: a decoder continues a text, or an encoder-decoder pair transforms it.
#include <CLI/CLI.hpp>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/tasks/task_arguments.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/hosted/tasks/generate_task.hpp"

namespace embert::cli {
namespace {

struct GenerateArguments {
  TextCall call;
  GenerateOptions options;
};

void run_generate(const GenerateArguments& arguments) {
  const auto model = open_model(arguments.call);
  run_text_task(arguments.call, kTextForm, prepare_generate(*model, arguments.options));
}

}  // namespace

void add_generate_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("generate", "Generate text with a decoder");
  auto arguments = std::make_shared<GenerateArguments>();
  add_text_call(*command, arguments->call, kTextForm,
                {{"text", "generated", "ids", "log_probability", "finish"}, ""});
  add_on_long_option(*command, arguments->call);
  command->add_flag("--ids", arguments->options.ids,
                    "Read and write texts as token ids with blanks between");
  add_decoding_options(*command, arguments->options.decoding);
  command->footer(
      "The best token each time, unless --sample or --beams asks for more. A pair of encoder and\n"
      "decoder reads the text with the encoder. Without --json a line is what was generated;\n"
      "finish says what ended it: the end token, the length, or a cache that is full.\n"
      "Example:\n"
      "  embert generate decoder.emb \"once upon a time\" --max-new-tokens 40\n"
      "  embert generate decoder.emb --sample --temperature 0.8 --top-p 0.9 --seed 7 < "
      "prompts.txt");
  command->callback([arguments] { run_generate(*arguments); });
}

}  // namespace embert::cli
