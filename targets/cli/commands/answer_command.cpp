// SPDX-License-Identifier: Apache-2.0
// embert answer: the parts of a context that best answer a question.
#include <CLI/CLI.hpp>
#include <memory>

#include "embert/embert_tasks.h"
#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/model/model_session.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/cli/tasks/text_windows.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/tasks/logit_scores.hpp"

namespace embert::cli {
namespace {

const RecordForm kAnswerForm = {.names = {"question", "context"}};

struct AnswerOptions {
  TextCall call;
  WindowOptions windows;
  embert_answer_options decoding = embert_answer_options_default();
  uint32_t top = 1;
  bool allow_no_answer = false;
};

std::vector<embert_answer> find_answers(const AnswerOptions& options, const ModelSession& session,
                                        const std::vector<TextTokens>& windows) {
  embert_answer_options decoding = options.decoding;
  decoding.allow_no_answer = options.allow_no_answer ? 1 : 0;
  std::vector<embert_answer> answers(options.top);
  embert_answers list = {};
  for (const TextTokens& tokens : windows) {
    const Rows<int32_t> logits = session.classify_tokens(tokens);
    if (&tokens == windows.data()) {
      check(embert_answers_begin(&list, &decoding, logits.scale, answers.data(), answers.size()),
            "embert_answers_begin");
    }
    embert_answer_window window = {.size = sizeof(window)};
    window.logits = logits.values.data();
    window.sequence_ids = tokens.sequence_ids.data();
    window.word_ids = tokens.word_ids.data();
    window.byte_offsets = tokens.byte_offsets.data();
    window.char_offsets = tokens.char_offsets.data();
    window.tokens = tokens.ids.size();
    check(embert_answers_add(&list, &window), "embert_answers_add");
  }
  check(embert_answers_finish(&list), "embert_answers_finish");
  answers.resize(list.count);
  return answers;
}

void write_answers(const AnswerOptions& options, const Record& record, size_t windows,
                   const std::vector<embert_answer>& answers) {
  const std::string& context = record.texts[1];
  Json list = Json::array();
  std::string line;
  for (const embert_answer& answer : answers) {
    const std::string text = context.substr(answer.byte_begin, answer.byte_end - answer.byte_begin);
    const double score = score_of_log2(answer.log2_score);
    line += fixed(score, 4) + '\t' + one_line(text) + '\t';
    list.push_back({{"answer", text},
                    {"score", score},
                    {"byte_offsets", {answer.byte_begin, answer.byte_end}},
                    {"char_offsets", {answer.char_begin, answer.char_end}}});
  }
  if (!options.call.json) return output().line(line + one_line(record.texts[0]));
  output().json(
      {{"question", record.texts[0]}, {"windows", windows}, {"answers", std::move(list)}});
}

bool has_token_of(const TextTokens& tokens, int32_t sequence) {
  for (const int32_t id : tokens.sequence_ids) {
    if (id == sequence) return true;
  }
  return false;
}

void run_answer(const AnswerOptions& options) {
  const ModelFile file(options.call.model, isa_mask_of(options.call.run.isa));
  file.require_tokenizer();
  require_task(file, Task::kAnswer);
  RecordSource source(options.call.input, kAnswerForm);
  const ModelSession session(file, options.call.run.threads, options.windows.window, 1);

  for (auto records = source.next(1); !records.empty(); records = source.next(1)) {
    const Record& record = records[0];
    const auto windows =
        windows_of(*file.model(), record, session.options().max_tokens, options.windows.stride);
    for (const int32_t sequence : {0, 1}) {
      if (has_token_of(windows[0], sequence)) continue;
      record.refuse("the " + kAnswerForm.names[static_cast<size_t>(sequence)] + " is empty (" +
                    embert_status_name(EMBERT_STATUS_EMPTY_INPUT) + ")");
    }
    write_answers(options, record, windows.size(), find_answers(options, session, windows));
  }
}

}  // namespace

void add_answer_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("answer", "Find the answer to a question in a text");
  auto options = std::make_shared<AnswerOptions>();
  add_text_call(*command, options->call, kAnswerForm,
                "question, windows, answers with answer, score, byte_offsets, char_offsets");
  command->add_option("--top", options->top, "How many answers to show")
      ->check(CLI::Range(1, 1000))
      ->type_name("K")
      ->capture_default_str();
  command
      ->add_option("--max-answer-tokens", options->decoding.max_answer_tokens,
                   "Longest answer in tokens, before it is widened to whole words")
      ->check(CLI::Range(1, 512))
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--allow-no-answer", options->allow_no_answer,
                    "That there is none is an answer too: an empty text");
  options->windows.add_to(*command);
  command->footer(
      "Without --json a line is: score, answer (K times), question, with tabs between. Contexts\n"
      "longer than a window are read in overlapping ones.\n"
      "Example:\n"
      "  embert answer squad.emb \"Where is the cat?\" \"The cat sat on the mat.\" --top 3\n"
      "  embert answer squad.emb --jsonl --json < questions.jsonl");
  command->callback([options] { run_answer(*options); });
}

}  // namespace embert::cli
