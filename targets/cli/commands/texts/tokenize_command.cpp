// SPDX-License-Identifier: Apache-2.0
// embert tokenize: the tokens that the model would read.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/hosted/tasks/tokenize_task.hpp"

namespace embert::cli {
namespace {

struct TokenizeOptions {
  TextCall call;
  std::optional<std::string> pair;
};

void run_tokenize(const TokenizeOptions& options) {
  HostedModel model(options.call.model, {.threads = 1,
                                         .isa = "scalar",
                                         .refuse_long = options.call.refuses_long(),
                                         .tokens_alone = true});
  run_text_task(
      options.call, kTextForm, prepare_tokenize(model), [&](const std::vector<Record>& records) {
        TextList list;
        for (const Record& record : records) {
          options.pair ? list.add(record.texts[0], *options.pair) : list.add(record.texts[0]);
        }
        return list;
      });
}

}  // namespace

void add_tokenize_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tokenize", "Split each text into tokens");
  auto options = std::make_shared<TokenizeOptions>();
  add_record_options(
      *command, options->call, kTextForm,
      {{"text", "pair", "ids", "type_ids", "tokens", "byte_offsets", "char_offsets", "word_ids"},
       ""});
  add_on_long_option(*command, options->call);
  command->add_option("--pair", options->pair, "A second text that follows each text");
  command->footer(
      "Texts are cut to the model's length, special tokens included.\n"
      "Example:\n"
      "  embert tokenize minilm.emb \"Where is it?\" --pair \"In the unaffable attic.\" --json");
  command->callback([options] { run_tokenize(*options); });
}

}  // namespace embert::cli
