// SPDX-License-Identifier: Apache-2.0
// embert tokenize: the tokens that the model would read.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/io/texts.hpp"
#include "targets/cli/model/run_options.hpp"
#include "targets/hosted/tasks/tokenize_task.hpp"

namespace embert::cli {
namespace {

struct TokenizeOptions {
  std::string model;
  std::vector<std::string> texts;
  std::optional<std::string> pair;
  bool json = false;
  size_t max_line_bytes = kMaxLineBytes;
};

void run_tokenize(const TokenizeOptions& options) {
  HostedModel model(options.model, {.threads = 1, .isa = "scalar"});
  const TextTask task = prepare_tokenize(model);
  TextSource source(options.texts, options.max_line_bytes);
  for (auto texts = source.next(task.texts_at_once); !texts.empty();
       texts = source.next(task.texts_at_once)) {
    TextList list;
    for (const std::string& text : texts) {
      options.pair ? list.add(text, *options.pair) : list.add(text);
    }
    Progress no_progress(nullptr, nullptr, 0);
    const TaskLines result =
        task.run(list.view(), options.json ? LineForm::kJson : LineForm::kPlain, no_progress);
    for (const std::string& line : result.lines) output().line(line);
    if (result.failure) throw *result.failure;
  }
}

}  // namespace

void add_tokenize_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tokenize", "Split each text into tokens");
  auto options = std::make_shared<TokenizeOptions>();
  add_model_argument(*command, options->model);
  add_text_arguments(*command, options->texts,
                     "Texts; without any, the lines of stdin; behind -- any text");
  add_line_limit(*command, options->max_line_bytes);
  command->add_option("--pair", options->pair, "A second text that follows each text");
  command->add_flag(
      "--json", options->json,
      "JSON Lines: text, ids, type_ids, tokens, byte_offsets, char_offsets, word_ids");
  command->footer(
      "Texts are cut to the model's length, special tokens included.\n"
      "Example:\n"
      "  embert tokenize minilm.emb \"Where is it?\" --pair \"In the unaffable attic.\" --json");
  command->callback([options] { run_tokenize(*options); });
}

}  // namespace embert::cli
