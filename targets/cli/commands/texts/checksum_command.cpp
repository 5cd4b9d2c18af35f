// SPDX-License-Identifier: Apache-2.0
// embert checksum: the bits of each text's result as one number, to compare with another machine, a
// board or a browser.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/device/local_runner.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/model/model_tasks.hpp"

namespace embert::cli {
namespace {

struct ChecksumOptions {
  TextCall call;
  std::string isa = "auto";
};

void write_checksum(const TextCall& call, const Record& record, const device::RunReply& reply) {
  const bool empty = reply.status == EMBERT_STATUS_EMPTY_INPUT;
  if (reply.status != EMBERT_STATUS_OK && !empty) {
    record.refuse(embert_status_name(static_cast<embert_status>(reply.status)));
  }
  char checksum[9];
  std::snprintf(checksum, sizeof(checksum), "%08x", reply.outputs_crc);
  if (!call.json) return output().line(empty ? "" : checksum);
  output().line(record.with_carried(json_line({{"text", record.texts[0]},
                                               {"tokens", reply.tokens},
                                               {"checksum", empty ? Json() : Json(checksum)}})));
}

void run_checksum(const ChecksumOptions& options) {
  const ModelFile file(options.call.model, isa_mask_of(options.isa));
  if (file.info().num_labels == 0) require_task(file, Task::kEmbed);
  LocalRunner local(file, file.info().max_tokens);
  for_records(options.call, kTextForm, 1, [&](const std::vector<Record>& records, Progress&) {
    const std::string& text = records[0].texts[0];
    write_checksum(options.call, records[0], local.runner().run(text.data(), text.size()));
    return size_t{0};
  });
}

}  // namespace

void add_checksum_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("checksum", "The bits of each text's result as one number");
  auto options = std::make_shared<ChecksumOptions>();
  add_record_options(*command, options->call, kTextForm, {{"text", "tokens", "checksum"}, ""});
  add_isa_option(*command, options->isa);
  command->footer(
      "CRC-32C of the classifier's logits, 32 bits each; without a classifier of the vector, 16\n"
      "bits each; no prompt. Every processor, board and browser gives the same number.\n"
      "A text without tokens gets an empty line, with --json the checksum null.\n"
      "Example:\n"
      "  embert checksum minilm.emb \"a cat on a mat\"");
  command->callback([options] { run_checksum(*options); });
}

}  // namespace embert::cli
