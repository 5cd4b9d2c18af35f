// SPDX-License-Identifier: Apache-2.0
// embert convert: makes one model file from a Hugging Face folder. The file is written whole or not
// at all.
#include <CLI/CLI.hpp>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/convert/convert_summary.hpp"
#include "targets/cli/convert/signal_hold.hpp"
#include "targets/cli/io/messages.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/io/progress_bar.hpp"
#include "targets/cli/report/report_data.hpp"
#include "targets/cli/report/report_file.hpp"
#include "targets/hosted/convert/convert_folder.hpp"

namespace embert::cli {
namespace {

struct ConvertCall {
  ConvertArguments arguments;
  bool dry_run = false, json = false;
};

/// An output that cannot be written is, before the work, a wrong call.
void check_outputs_of_call(const ConvertPaths& paths) {
  if (paths.model.empty()) throw UsageError("-o MODEL is missing; or give --dry-run");
  if (paths.model == "-") throw UsageError("-o -: expected the name of a file; a model is no text");
  if (paths.report) check_report(*paths.report, paths.folder);
  try {
    check_outputs(paths);
  } catch (const WriteError& error) {
    throw UsageError(error.what());
  }
}

/// The JSON of --json and --report. What only the new model can tell costs a second or more, so
/// that a page alone has it.
Json report_data(const ConvertCall& call, const Conversion& conversion) {
  const ConvertPaths& paths = call.arguments.paths;
  Json data = {{"model", paths.model}, {"folder", paths.folder}};
  data.update(conversion_json(call.arguments, conversion));
  if (!paths.report || !is_page(*paths.report)) return data;
  const ModelFile file(paths.model, conversion.result.blob, embert_isa_detect());
  add_held_out(file, conversion.result, data);
  add_model_facts(file, data);
  return data;
}

void run_convert(const ConvertCall& call) {
  const ConvertPaths& paths = call.arguments.paths;
  if (!call.dry_run) check_outputs_of_call(paths);
  const Conversion conversion = [&] {
    ProgressBar bar;
    return convert_folder(call.arguments, [&bar](const std::string& stage, double done) {
      bar.show({stage, done});
    });
  }();
  for (const std::string& warning : conversion.result.warnings) note("warning: " + warning);
  const Json data = report_data(call, conversion);
  if (!call.dry_run) {
    const std::string report = paths.report ? report_text(*paths.report, "convert", data) : "";
    const SignalHold hold;
    write_conversion(paths, conversion, report);
  }
  if (call.json) return output().json(data);
  write_summary(conversion.result, call.dry_run ? "" : paths.model, conversion.seconds);
}

}  // namespace

void add_convert_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("convert", "Make a model file from a Hugging Face folder");
  auto call = std::make_shared<ConvertCall>();
  ConvertArguments* arguments = &call->arguments;
  command
      ->add_option("HF_DIR", arguments->paths.folder,
                   "Folder with config.json, model.safetensors and a tokenizer")
      ->required()
      ->type_name("");
  command
      ->add_option("-o,--output", arguments->paths.model,
                   "The model file to write; required but for --dry-run")
      ->type_name("MODEL");
  auto* texts =
      command
          ->add_option("--calibration", arguments->paths.calibration,
                       "Texts to calibrate on, one a line; of more than 4096, so many are "
                       "taken, evenly spaced; default: built-in text")
          ->type_name("FILE");
  command
      ->add_option("--calibration-ids", arguments->paths.calibration_ids,
                   "Token ids to calibrate on, one text a line, at most 4096 as above: for folders "
                   "without tokenizer")
      ->type_name("FILE")
      ->excludes(texts);
  command->add_option("--rounding", arguments->rounding, "gptq: error-compensated; nearest: fast")
      ->check(CLI::IsMember({"gptq", "nearest"}))
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--embeddings", arguments->embeddings,
                   "Bits of a value of the word embeddings: 4bit takes about half the space and "
                   "says what that costs in cosine")
      ->check(CLI::IsMember({"8bit", "4bit"}))
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option(
          "--precision", arguments->precision,
          "How close to float32: fast reads 8 bits, and 16 of the first token where that helps "
          "much; balanced 16 where they help most, for at most 8 % more multiply-adds at 128 "
          "tokens; high wherever they help")
      ->check(CLI::IsMember({"fast", "balanced", "high"}))
      ->type_name("LEVEL")
      ->capture_default_str();
  command
      ->add_option("--layout", arguments->layout,
                   "Order of the weights: n16k4 for all processors; n8k16 for those with i8mm "
                   "alone, whose kernels then need not reorder it")
      ->check(CLI::IsMember({"n16k4", "n8k16"}))
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--max-tokens", arguments->max_tokens,
                   "Default length of a text, special tokens included, at most the model's "
                   "positions; default: as the folder says")
      ->check(CLI::Range(1, 512).description(""))
      ->type_name("N");
  command
      ->add_option("--keep-vocabulary", arguments->paths.keep_vocabulary,
                   "Keep the tokens that these texts use, one a line, and single characters of "
                   "their scripts; rows and tokenizer entries of other tokens go")
      ->type_name("FILE");
  command
      ->add_option("--scripts", arguments->scripts,
                   "Keep the tokens of these Unicode scripts, such as Latin,Cyrillic; with "
                   "--keep-vocabulary their single characters")
      ->delimiter(',')
      ->type_name("NAMES");
  command
      ->add_option("--vocabulary-size", arguments->vocabulary_size,
                   "Keep so many tokens: the most frequent ones in the texts of --keep-vocabulary, "
                   "then in the tokenizer's order")
      ->check(CLI::Range(1, 1 << 20).description(""))
      ->type_name("N");
  command->add_option("--report", arguments->paths.report, kReportHelp)->type_name("FILE");
  command->add_flag("--json", call->json, "The content of the report as one JSON object on stdout");
  command->add_flag("--dry-run", call->dry_run, "Do everything but write files");
  command
      ->add_option("--threads", arguments->threads,
                   "Threads; 0: all processors that this process may use. The bytes do not depend "
                   "on it")
      ->check(CLI::Range(0, 64))
      ->type_name("N")
      ->capture_default_str();
  command->footer(
      "Example:\n"
      "  embert convert tiny-intent -o intent.emb --report intent.html\n"
      "  embert convert multilingual-e5-small -o e5.emb --scripts Latin");
  command->callback([call] { run_convert(*call); });
}

}  // namespace embert::cli
