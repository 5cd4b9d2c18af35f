// SPDX-License-Identifier: Apache-2.0
// embert embed: one vector for each text.
#include <CLI/CLI.hpp>
#include <atomic>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/npy_file.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/tasks/task_arguments.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/tasks/embed_task.hpp"

namespace embert::cli {
namespace {

struct EmbedArguments {
  TextCall call;
  VectorOptions options;
  std::string npy;  ///< path; empty: lines on stdout
};

/// Writes the vectors of all texts into an array file; a text without tokens gets zeros.
void write_npy(const EmbedArguments& arguments, const VectorOptions& options, HostedModel& model) {
  model.file().require_tokenizer();
  const embert_vector_format format = options.format;
  const size_t row_bytes = packed_bytes(format, check_vector_options(model.file(), options));
  NpyFile file(arguments.npy, format, row_bytes);
  for_records(arguments.call, kTextForm, kSortedTextsAtOnce,
              [&](const std::vector<Record>& records, Progress& progress) {
                std::vector<uint8_t> rows(records.size() * row_bytes);
                std::atomic<size_t> truncated = 0;
                text_vectors(model, list_of(records).view(), options, progress,
                             [&](const TextVector& row) {
                               if (row.tokens == 0) return;
                               truncated += row.truncated ? 1 : 0;
                               pack_vector(row.vector, format, rows.data() + row.text * row_bytes);
                             });
                file.append(rows);
                return truncated.load();
              });
  file.finish();
}

void run_embed(const EmbedArguments& arguments) {
  const auto model = open_model(arguments.call);
  VectorOptions options = arguments.options;
  options.windows = arguments.call.reads_windows();
  if (!arguments.npy.empty()) return write_npy(arguments, options, *model);
  run_text_task(arguments.call, kTextForm, prepare_embed(*model, options));
}

}  // namespace

void add_embed_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("embed", "Compute a vector for each text");
  auto arguments = std::make_shared<EmbedArguments>();
  add_text_call(*command, arguments->call, kTextForm, {{"text", "tokens", "embedding"}, ""});
  add_on_long_windows_option(*command, arguments->call, "vectors");
  add_vector_options(*command, arguments->options);
  command
      ->add_option_function<std::string>(
          "--npy",
          [command, arguments](const std::string& path) {
            if (path == "-") throw UsageError("--npy -: expected the name of a file");
            check_is_no_input(*command, "npy", path);
            arguments->npy = path;
          },
          "Write the vectors as a numpy array [texts][values] instead of lines: float32; "
          "int8 for int8, int8-unit and binary; uint8 for the other bits")
      ->excludes("--json")
      ->excludes("--output")
      ->type_name("FILE");
  command->footer(
      "int8 scales each vector to -127..127. int8-unit maps [-1, 1] to -128..127, as sqlite-vec\n"
      "does. Bits are packed eight to a byte, 1 above zero: bits and ubinary with the first value "
      "in\n"
      "the highest bit; binary the same bytes minus 128; bits-lsb, as sqlite-vec, in the lowest.\n"
      "Without --prompt each text gets the model's default prompt, if it has one (inspect).\n"
      "A text without tokens, as an empty line where the model adds no special tokens, gets an\n"
      "empty line, with --json the embedding null.\n"
      "Example:\n"
      "  embert embed minilm.emb \"a cat on a mat\" \"a dog in the fog\"\n"
      "  embert embed minilm.emb --json --format int8 < lines.txt > vectors.jsonl\n"
      "  embert embed minilm.emb --npy vectors.npy --threads 0 < lines.txt");
  command->callback([arguments] { run_embed(*arguments); });
}

}  // namespace embert::cli
