// SPDX-License-Identifier: Apache-2.0
// embert fit: says before a board is bought whether a model fits it. A folder is converted in
// memory, because the bytes of the model follow from its weights, too.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/fit/board_table.hpp"
#include "targets/cli/fit/byte_size.hpp"
#include "targets/cli/fit/fit_report.hpp"
#include "targets/cli/io/messages.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/model/model_file.hpp"
#if EMBERT_HAS_CONVERTER
#include "targets/cli/io/progress_bar.hpp"
#include "targets/hosted/convert/convert_folder.hpp"
#endif

namespace embert::cli {
namespace {

struct FitOptions {
  std::string model, flash, ram, board;
  std::optional<uint32_t> tokens;
  bool json = false;
};

/// The bytes of --flash or --ram; of the board where it is not given.
uint64_t limit_of(const char* option, const std::string& text, const Board* board,
                  uint64_t of_board) {
  if (text.empty() && board != nullptr) return of_board;
  if (text.empty()) {
    throw UsageError(std::string(option) + " is missing; or give --board NAME");
  }
  const std::optional<uint64_t> bytes = byte_size(text);
  if (!bytes) {
    throw UsageError(std::string(option) + ": \"" + one_line(text) +
                     "\" is no size; expected 1 byte to 4G, such as 512K, 1.5M or 1474687");
  }
  if (board != nullptr && of_board != 0 && *bytes > of_board) {
    throw UsageError(std::string(option) + " " + one_line(text) + " contradicts --board " +
                     board->name + ", which has " + grouped(of_board) +
                     " bytes; leave one of them out");
  }
  return *bytes;
}

/// Writes the answer about an opened model.
void answer_question(const FitOptions& options, FitQuestion question) {
  embert_model_info info = {.size = sizeof(info)};
  check(embert_model_get_info(question.model.model, &info), "embert_model_get_info");
  question.model.tokens = options.tokens.value_or(info.max_tokens);
  if (question.model.tokens > info.max_positions) {
    throw UsageError("--tokens " + std::to_string(question.model.tokens) + ": the model has " +
                     std::to_string(info.max_positions) + " positions");
  }
  const std::vector<FitAnswer> answers = answer_fit(question);
  options.json ? output().json(fit_json(question, answers)) : write_fit(question, answers);
  output().finish();  // a verdict that fails keeps the results, also those of --output
  for (const FitAnswer& answer : answers) {
    if (answer.fits) continue;
    throw InputError(quoted_path(question.name) + ": does not fit with the kernels " +
                     answer.kernels->isa + ": flash " + grouped(answer.need.flash()) + ", RAM " +
                     grouped(answer.need.ram()) + " bytes");
  }
}

#if EMBERT_HAS_CONVERTER
void fit_folder(const FitOptions& options, FitQuestion question) {
  ConvertArguments arguments;
  arguments.paths.folder = options.model;
  const Conversion conversion = [&] {
    ProgressBar bar;
    return convert_folder(arguments, [&bar](const std::string& stage, double done) {
      bar.show({stage, done});
    });
  }();
  note(options.model + ": converted in memory, " + fixed(conversion.seconds, 1) + " s");
  for (const std::string& warning : conversion.result.warnings) note("warning: " + warning);
  const ModelFile file(options.model, conversion.result.blob, EMBERT_ISA_SCALAR);
  question.model = {file.model(), {file.data(), file.bytes()}, 0};
  answer_question(options, question);
}
#else
void fit_folder(const FitOptions& options, FitQuestion) {
  throw UsageError(quoted_path(options.model) +
                   ": is a folder, and this build has no converter; give a model file");
}
#endif

void run_fit(const FitOptions& options) {
  const Board* board = options.board.empty() ? nullptr : &board_by_name(options.board);
  FitQuestion question = {
      .name = options.model,
      .model = {},
      .board = board,
      .limits = {limit_of("--flash", options.flash, board, board != nullptr ? board->flash : 0),
                 limit_of("--ram", options.ram, board, board != nullptr ? board->ram : 0)}};
  std::error_code error;
  if (std::filesystem::is_directory(options.model, error)) return fit_folder(options, question);
  const ModelFile file(options.model, EMBERT_ISA_SCALAR);
  // No board that the tool knows has i8mm.
  file.require_kernels();
  question.model = {file.model(), {file.data(), file.bytes()}, 0};
  answer_question(options, question);
}

std::string board_list() {
  std::string list;
  size_t line = 0;
  for (const std::string& name : board_names()) {
    if (line + name.size() > 72) {
      list += "\n ";
      line = 0;
    }
    list += " " + name;
    line += name.size() + 1;
  }
  return list;
}

}  // namespace

void add_fit_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("fit", "Say whether a model fits a board, and how fast");
  auto options = std::make_shared<FitOptions>();
  command
      ->add_option("MODEL", options->model,
                   "Model file, or Hugging Face folder, which is converted in memory")
      ->required()
      ->type_name("");
  command
      ->add_option("--flash", options->flash,
                   "Flash for code and model, such as 2M, 1.5M or 512K; default: that of the board")
      ->type_name("BYTES");
  command
      ->add_option("--ram", options->ram,
                   "RAM for arena, buffers and stack; default: that of the board")
      ->type_name("BYTES");
  command
      ->add_option("--tokens", options->tokens,
                   "Longest text, special tokens included; default: the model's")
      ->check(CLI::Range(1, 512).description(""))
      ->type_name("N");
  command
      ->add_option("--board", options->board,
                   "A board: its flash, RAM, kernels and clock (listed below)")
      ->type_name("NAME");
  command->add_flag("--json", options->json,
                    "One JSON object: model, board, source, flash_limit, ram_limit, tokens, "
                    "blob_bytes, work, kernels, most_tokens, remedies, verdict");
  add_output_option(*command);
  command->footer("Exit code 2: it does not fit.\nBoards:\n " + board_list() +
                  "\nExample:\n  embert fit intent.emb --flash 2M --ram 512K --tokens 32\n"
                  "  embert fit targets/demo/tiny-intent --board nucleo-h743zi");
  command->callback([options] { run_fit(*options); });
}

}  // namespace embert::cli
