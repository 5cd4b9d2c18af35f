// SPDX-License-Identifier: Apache-2.0
// embert answer: the parts of a context that best answer a question.
#include <CLI/CLI.hpp>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/tasks/task_arguments.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/hosted/tasks/answer_task.hpp"

namespace embert::cli {
namespace {

const RecordForm kAnswerForm = {.names = {"question", "context"}};

struct AnswerArguments {
  TextCall call;
  AnswerOptions options;
};

void run_answer(const AnswerArguments& arguments) {
  const auto model = open_model(arguments.call);
  run_text_task(arguments.call, kAnswerForm, prepare_answer(*model, arguments.options));
}

}  // namespace

void add_answer_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("answer", "Find the answer to a question in a text");
  auto arguments = std::make_shared<AnswerArguments>();
  add_text_call(*command, arguments->call, kAnswerForm,
                {{"question", "windows", "answers"}, "answer, score, byte_offsets, char_offsets"});
  command->add_option("--top", arguments->options.top, "How many answers to show")
      ->check(CLI::Range(1, 1000))
      ->type_name("K")
      ->capture_default_str();
  command
      ->add_option("--max-answer-tokens", arguments->options.max_answer_tokens,
                   "Longest answer in tokens, before it is widened to whole words")
      ->check(CLI::Range(1, 512))
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--allow-no-answer", arguments->options.allow_no_answer,
                    "That there is none is an answer too: an empty text");
  add_window_options(*command, arguments->options.windows);
  command->footer(
      "Without --json a line is: score, answer (K times), question, with tabs between. Contexts\n"
      "longer than a window are read in overlapping ones.\n"
      "Example:\n"
      "  embert answer squad.emb \"Where is the cat?\" \"The cat sat on the mat.\" --top 3\n"
      "  embert answer squad.emb --jsonl --json < questions.jsonl");
  command->callback([arguments] { run_answer(*arguments); });
}

}  // namespace embert::cli
