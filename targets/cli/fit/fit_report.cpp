// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/fit/fit_report.hpp"

#include <unistd.h>

#include <algorithm>

#include "targets/cli/io/messages.hpp"
#include "targets/cli/io/output.hpp"

namespace embert::cli {
namespace {

constexpr size_t kNameColumn = 14, kNumberColumn = 14;

std::string left(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}
std::string right(const std::string& text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

/// "  arena              90,112  at 32 tokens".
void write_part(const std::string& name, size_t bytes, const std::string& remark = "") {
  output().line(left("  " + name, kNameColumn) + right(grouped(bytes), kNumberColumn) +
                (remark.empty() ? "" : "  " + remark));
}

/// "RAM                  98,240  of 524,288 bytes: fits, 426,048 free".
void write_memory(const std::string& name, size_t need, uint64_t limit) {
  std::string verdict = "of a card or disk";
  if (limit != 0) {
    verdict = "of " + grouped(limit) + " bytes: " +
              (need <= limit
                   ? coloured("fits", Colour::kGreen, STDOUT_FILENO) + ", " +
                         grouped(limit - need) + " free"
                   : coloured(grouped(need - limit) + " too many", Colour::kRed, STDOUT_FILENO));
  }
  output().line(left(name, kNameColumn) + right(grouped(need), kNumberColumn) + "  " + verdict);
}

std::string millions(double count) { return fixed(count / 1e6, count < 1e8 ? 2 : 0) + " million"; }

std::string time_text(double seconds) {
  return seconds < 1 ? fixed(seconds * 1e3, seconds < 0.01 ? 2 : 0) + " ms"
                     : fixed(seconds, 1) + " s";
}

std::optional<ModelWork> work_of_text(const FitQuestion& question) {
  return work_of(question.model);
}

double instructions_of_text(const FitQuestion& question) {
  embert_model_info info = {.size = sizeof(info)};
  check(embert_model_get_info(question.model.model, &info), "embert_model_get_info");
  return text_instructions(question.model.tokens, info.num_labels);
}

void write_board(const FitQuestion& question, const FitAnswer& answer) {
  const MemoryNeed& need = answer.need;
  const Core& core = core_of(*question.board);
  const bool linux_board = !answer.kernels->bare_metal;
  write_memory("flash", need.flash(), question.limits.flash);
  write_part("model", need.model);
  write_part(
      "code, tables", need.code,
      std::string(linux_board ? "library" : "firmware") + ", kernels " + answer.kernels->isa);
  write_memory("RAM", need.ram(), question.limits.ram);
  if (need.loaded_model > 0) write_part("model", need.loaded_model, "read from the card");
  write_part("arena", need.arena, "at " + std::to_string(question.model.tokens) + " tokens");
  write_part("buffers", need.buffers, "ids, outputs, a text of 512 bytes");
  if (need.variables > 0) write_part("variables", need.variables);
  if (need.stack > 0) write_part("stack", need.stack, "at most");
  const std::optional<ModelWork> work = work_of_text(question);
  if (!work) return output().line("work: not estimated for this kind of model");
  output().line(left("multiply-adds", kNameColumn) +
                right(millions((*work)[kMultiplyAdds]), kNumberColumn));
  output().line(left("instructions", kNameColumn) +
                right(millions(*answer.instructions), kNumberColumn) +
                "  estimated, from the characters to the answer");
  output().line(left("time", kNameColumn) + right(time_text(*answer.seconds), kNumberColumn) +
                "  at " + std::to_string(question.board->mhz) + " MHz, if an instruction takes " +
                fixed(core.cycles, 1) + " cycles");
  output().line("  Assumed of a " + std::string(core.name) + ": " + core.reason +
                ".\n  No hardware was measured; memory that makes it wait adds to this.");
}

void write_kernel_sets(const FitQuestion& question, const std::vector<FitAnswer>& answers) {
  const MemoryNeed& any = answers.front().need;
  write_part("model", any.model);
  write_part("arena", any.arena, "at " + std::to_string(question.model.tokens) + " tokens");
  write_part("buffers", any.buffers, "ids, outputs, a text of 512 bytes");
  const std::optional<ModelWork> work = work_of_text(question);
  if (work) {
    output().line(left("multiply-adds", kNameColumn) +
                  right(millions((*work)[kMultiplyAdds]), kNumberColumn));
  }
  output().line("");
  output().line("kernels         code   stack        flash          RAM  instructions  verdict");
  for (const FitAnswer& answer : answers) {
    output().line(
        left(answer.kernels->isa, 8) + right(grouped(answer.need.code), 12) +
        right(grouped(answer.need.stack), 8) + right(grouped(answer.need.flash()), 13) +
        right(grouped(answer.need.ram()), 13) +
        right(answer.instructions ? fixed(*answer.instructions / 1e6, 2) + " M" : "-", 14) + "  " +
        (answer.fits ? coloured("fits", Colour::kGreen, STDOUT_FILENO)
                     : coloured("too large", Colour::kRed, STDOUT_FILENO)));
  }
  for (const FitAnswer& answer : answers) {
    output().line("  " + left(answer.kernels->isa, 8) + answer.kernels->processors);
  }
  output().line("  With --board NAME also an estimate of the time.");
}

bool all_fit(const std::vector<FitAnswer>& answers) {
  return std::all_of(answers.begin(), answers.end(), [](const FitAnswer& a) { return a.fits; });
}

/// " with mve; it fits with scalar, dsp", or nothing where it fits with none.
std::string with_which_kernels(const std::vector<FitAnswer>& answers) {
  std::string fitting, others;
  for (const FitAnswer& answer : answers) {
    std::string& list = answer.fits ? fitting : others;
    list += (list.empty() ? "" : ", ") + std::string(answer.kernels->isa);
  }
  return fitting.empty() ? "" : " with " + others + "; it fits with " + fitting;
}

/// The first answer that does not fit.
const FitAnswer& worst(const std::vector<FitAnswer>& answers) {
  for (const FitAnswer& answer : answers) {
    if (!answer.fits) return answer;
  }
  return answers.front();
}

Json limit_json(uint64_t bytes) { return bytes == 0 ? Json() : Json(bytes); }

Json answer_json(const FitQuestion& question, const FitAnswer& answer) {
  const MemoryNeed& need = answer.need;
  Json json = {{"isa", answer.kernels->isa},
               {"flash_bytes", need.flash()},
               {"code_bytes", need.code},
               {"ram_bytes", need.ram()},
               {"arena_bytes", need.arena},
               {"buffer_bytes", need.buffers},
               {"variable_bytes", need.variables},
               {"stack_bytes", need.stack},
               {"instructions", answer.instructions ? Json(*answer.instructions) : Json()},
               {"text_instructions", instructions_of_text(question)},
               {"fits", answer.fits}};
  if (question.board != nullptr) {
    const Core& core = core_of(*question.board);
    json["core"] = core.name;
    json["mhz"] = question.board->mhz;
    json["cycles_per_instruction"] = core.cycles;
    json["seconds"] = answer.seconds ? Json(*answer.seconds) : Json();
  }
  return json;
}

}  // namespace

std::vector<FitAnswer> answer_fit(const FitQuestion& question) {
  const std::optional<ModelWork> work = work_of_text(question);
  std::vector<FitAnswer> answers;
  for (const KernelSet& kernels : kernel_sets()) {
    const Board* board = question.board;
    const bool wanted =
        board != nullptr ? std::string(board->isa) == kernels.isa : kernels.bare_metal;
    if (!wanted) continue;
    FitAnswer answer = {.kernels = &kernels,
                        .need = memory_need(question.model, kernels),
                        .instructions = {},
                        .seconds = {},
                        .fits = false};
    if (work) {
      answer.instructions = instructions_of(kernels, *work) + instructions_of_text(question);
    }
    if (work && board != nullptr) {
      answer.seconds = *answer.instructions * core_of(*board).cycles / (board->mhz * 1e6);
    }
    answer.fits = answer.need.fits(question.limits);
    answers.push_back(answer);
  }
  return answers;
}

void write_fit(const FitQuestion& question, const std::vector<FitAnswer>& answers) {
  const Board* board = question.board;
  std::string title = "texts of up to " + std::to_string(question.model.tokens) + " tokens";
  if (board != nullptr) {
    title = std::string("on ") + board->name + " (" + board->core + ", " +
            std::to_string(board->mhz) + " MHz), " + title;
  }
  output().line(one_line(question.name));
  output().line(title);
  board != nullptr ? write_board(question, answers.front()) : write_kernel_sets(question, answers);
  for (const std::string& text :
       remedies(question.model, *worst(answers).kernels, question.limits)) {
    output().line("- " + text);
  }
  output().line(all_fit(answers) ? coloured("It fits.", Colour::kGreen, STDOUT_FILENO)
                                 : coloured("It does not fit" + with_which_kernels(answers) + ".",
                                            Colour::kRed, STDOUT_FILENO));
}

Json fit_json(const FitQuestion& question, const std::vector<FitAnswer>& answers) {
  const Board* board = question.board;
  const std::optional<ModelWork> work = work_of_text(question);
  Json list = Json::array();
  for (const FitAnswer& answer : answers) list.push_back(answer_json(question, answer));
  return {
      {"model", question.name},
      {"board", board != nullptr ? Json(board->name) : Json()},
      {"source", board != nullptr ? Json(board->source) : Json()},
      {"flash_limit", limit_json(question.limits.flash)},
      {"ram_limit", question.limits.ram},
      {"tokens", question.model.tokens},
      {"blob_bytes", question.model.blob.size()},
      {"work", work ? work_json(*work) : Json()},
      {"kernels", list},
      {"most_tokens", most_tokens(question.model, *worst(answers).kernels, question.limits.ram)},
      {"remedies", remedies(question.model, *worst(answers).kernels, question.limits)},
      {"verdict", all_fit(answers) ? "fits" : "too large"}};
}

}  // namespace embert::cli
