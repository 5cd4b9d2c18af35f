// SPDX-License-Identifier: Apache-2.0
// embert convert: makes one model file from a Hugging Face folder. The file is written whole or not
// at all.
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <optional>

#include "converter/convert.hpp"
#include "converter/export/replace_file.hpp"
#include "embert/embert.h"
#include "targets/cli/commands/commands.hpp"
#include "targets/cli/convert/convert_outputs.hpp"
#include "targets/cli/convert/convert_summary.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/io/progress_bar.hpp"
#include "targets/cli/model/run_options.hpp"
#include "targets/cli/tool_error.hpp"

namespace embert::cli {
namespace {

struct ConvertArguments {
  ConvertPaths paths;
  std::string rounding = "gptq";
  std::optional<int> max_tokens;
  uint32_t threads = 0;
  bool dry_run = false;
};

convert::ConvertOptions converter_options(const ConvertArguments& arguments) {
  convert::ConvertOptions options;
  options.folder = arguments.paths.folder;
  if (arguments.paths.calibration) options.calibration_texts = *arguments.paths.calibration;
  if (arguments.paths.calibration_ids) options.calibration_ids = *arguments.paths.calibration_ids;
  options.rounding =
      arguments.rounding == "nearest" ? convert::Rounding::kNearest : convert::Rounding::kGptq;
  options.max_tokens = arguments.max_tokens;
  options.threads = static_cast<int>(allowed_threads(arguments.threads));
  options.isa_mask = embert_isa_detect();
  return options;
}

void write_file(const std::string& path, std::span<const uint8_t> bytes) {
  try {
    convert::replace_file(path, bytes);
  } catch (const convert::ConvertError& error) {
    throw InternalError(error.what());
  }
}

void run_convert(const ConvertArguments& arguments) {
  if (!arguments.dry_run) {
    if (arguments.paths.model.empty()) throw UsageError("-o MODEL is missing; or give --dry-run");
    check_outputs(arguments.paths);
  }
  convert::ConvertOptions options = converter_options(arguments);
  const auto start = std::chrono::steady_clock::now();
  convert::ConvertResult result = [&] {
    ProgressBar bar;
    options.progress = [&bar](const std::string& stage, double done) { bar.show(stage, done); };
    return convert::convert(options);
  }();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;

  for (std::string& warning : quality_warnings(result)) {
    result.warnings.push_back(std::move(warning));
  }
  for (const std::string& warning : result.warnings) note("warning: " + warning);
  if (!arguments.dry_run) {
    write_file(arguments.paths.model, result.blob);
    if (arguments.paths.report) {
      const std::string text = convert_report(result, arguments.rounding, elapsed.count())
                                   .dump(2, ' ', false, Json::error_handler_t::replace) +
                               "\n";
      write_file(*arguments.paths.report,
                 {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    }
  }
  write_summary(result, arguments.dry_run ? "" : arguments.paths.model, elapsed.count());
}

}  // namespace

void add_convert_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("convert", "Make a model file from a Hugging Face folder");
  auto arguments = std::make_shared<ConvertArguments>();
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
      ->add_option("--max-tokens", arguments->max_tokens,
                   "Default length of a text, special tokens included, at most the model's "
                   "positions; default: as the folder says")
      ->check(CLI::Range(1, 512).description(""))
      ->type_name("N");
  command->add_option("--report", arguments->paths.report, "Write the summary and more as JSON")
      ->type_name("FILE");
  command->add_flag("--dry-run", arguments->dry_run, "Do everything but write files");
  command
      ->add_option("--threads", arguments->threads,
                   "Threads; 0: all processors that this process may use. The bytes do not depend "
                   "on it")
      ->check(CLI::Range(0, 64))
      ->type_name("N")
      ->capture_default_str();
  command->footer(
      "Example:\n"
      "  embert convert tiny-intent -o intent.emb --report intent.json");
  command->callback([arguments] { run_convert(*arguments); });
}

}  // namespace embert::cli
