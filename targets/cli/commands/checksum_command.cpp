// SPDX-License-Identifier: Apache-2.0
// embert checksum: the bits of each text's result as one number, to compare with another machine, a
// board or a browser.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/device/local_runner.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/io/texts.hpp"
#include "targets/cli/model/run_options.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/model/model_tasks.hpp"

namespace embert::cli {
namespace {

struct ChecksumOptions {
  std::string model;
  std::vector<std::string> texts;
  std::string isa = "auto";
  bool json = false;
  size_t max_line_bytes = kMaxLineBytes;
};

void run_checksum(const ChecksumOptions& options) {
  const ModelFile file(options.model, isa_mask_of(options.isa));
  if (file.info().num_labels == 0) require_task(file, Task::kEmbed);
  LocalRunner local(file, file.info().max_tokens);
  TextSource source(options.texts, options.max_line_bytes);
  size_t line = 0;
  for (auto texts = source.next(1); !texts.empty(); texts = source.next(1)) {
    const std::string& text = texts.front();
    ++line;
    const device::RunReply reply = local.runner().run(text.data(), text.size());
    const bool empty = reply.status == EMBERT_STATUS_EMPTY_INPUT;
    if (reply.status != EMBERT_STATUS_OK && !empty) {
      throw UsageError("text " + std::to_string(line) + ": " +
                       embert_status_name(static_cast<embert_status>(reply.status)));
    }
    char checksum[9];
    std::snprintf(checksum, sizeof(checksum), "%08x", reply.outputs_crc);
    if (options.json) {
      output().json({{"text", text},
                     {"tokens", reply.tokens},
                     {"checksum", empty ? Json() : Json(checksum)}});
    } else {
      output().line(empty ? "" : checksum);
    }
  }
  output().flush();
}

}  // namespace

void add_checksum_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("checksum", "The bits of each text's result as one number");
  auto options = std::make_shared<ChecksumOptions>();
  add_model_argument(*command, options->model);
  add_text_arguments(*command, options->texts,
                     "Texts; without any, the lines of stdin; behind -- any text");
  add_line_limit(*command, options->max_line_bytes);
  add_isa_option(*command, options->isa);
  command->add_flag("--json", options->json, "JSON Lines: text, tokens, checksum");
  command->footer(
      "CRC-32C of the classifier's logits, 32 bits each; without a classifier of the vector, 16\n"
      "bits each; no prompt. Every processor, board and browser gives the same number.\n"
      "A text without tokens gets an empty line, with --json the checksum null.\n"
      "Example:\n"
      "  embert checksum minilm.emb \"a cat on a mat\"");
  command->callback([options] { run_checksum(*options); });
}

}  // namespace embert::cli
