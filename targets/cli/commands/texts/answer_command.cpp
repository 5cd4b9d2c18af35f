// SPDX-License-Identifier: Apache-2.0
// embert answer: the parts of a context that best answer a question.
#include <CLI/CLI.hpp>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/text_file.hpp"
#include "targets/cli/tasks/task_arguments.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/hosted/tasks/answer_task.hpp"

namespace embert::cli {
namespace {

const RecordForm kAnswerForm = {.names = {"question", "context"}};
const RecordForm kQuestionForm = {.names = {"question"}};  // with --context

struct AnswerArguments {
  TextCall call;
  std::string context;  ///< path; empty: each question brings its own
  AnswerOptions options;
};

void run_answer(const AnswerArguments& arguments) {
  if (arguments.context == "-" && arguments.call.input.arguments.empty()) {
    throw UsageError("--context -: stdin is the context, so give the questions as arguments");
  }
  const auto model = open_model(arguments.call);
  const TextTask task = prepare_answer(*model, arguments.options);
  if (arguments.context.empty()) return run_text_task(arguments.call, kAnswerForm, task);
  const std::string context = read_whole_text(arguments.context);
  run_text_task(arguments.call, kQuestionForm, task, [&](const std::vector<Record>& records) {
    TextList list;
    for (const Record& record : records) list.add(record.texts[0], context);
    return list;
  });
}

}  // namespace

void add_answer_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("answer", "Find the answer to a question in a text");
  auto arguments = std::make_shared<AnswerArguments>();
  add_text_call(*command, arguments->call, kAnswerForm,
                {{"question", "windows", "answers"}, "answer, score, byte_offsets, char_offsets"});
  command
      ->add_option(
          "--context", arguments->context,
          "The text with the answers, of any length; -: stdin. Each argument, or each line "
          "of stdin, is then a question alone")
      ->type_name("FILE");
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
      "  embert answer squad.emb --context manual.txt \"How is it charged?\"\n"
      "  embert answer squad.emb --jsonl --json < questions.jsonl");
  command->callback([arguments] { run_answer(*arguments); });
}

}  // namespace embert::cli
