// SPDX-License-Identifier: Apache-2.0
// Lines of a question, a context and the right answers: exact match and F1 of the answers that
// `embert answer` would give, in windows as there.
#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "targets/cli/io/columns.hpp"
#include "targets/cli/io/text_file.hpp"
#include "targets/cli/verify/labelled_task.hpp"
#include "targets/hosted/convert/span_quality.hpp"
#include "targets/hosted/tasks/answer_task.hpp"

namespace embert::cli {
namespace {

struct Question {
  std::string text, context;
  std::vector<TextTokens> windows;
};

struct SpanState {
  AnswerOptions options;
  std::vector<Question> questions;
  std::vector<AnsweredQuestion> answers;   ///< [questions]
  size_t question = 0;                     ///< whose windows are being seen
  std::vector<TokenLogits> float32, int8;  ///< of its windows so far
};

/// Float logits in the integers of the task functions.
TokenLogits fixed_point(const convert::ComparedText& text) {
  constexpr float kScale = 1.0f / (1 << 16);
  TokenLogits logits = {text.width, {}, {std::bit_cast<uint32_t>(kScale)}};
  for (const double logit : text.float32) {
    logits.values.push_back(
        static_cast<int32_t>(std::lround(std::clamp(logit, -3e4, 3e4) / double{kScale})));
  }
  return logits;
}

void see_window(const convert::ComparedText& text, SpanState& state) {
  const Question& question = state.questions[state.question];
  state.float32.push_back(fixed_point(text));
  state.int8.push_back({text.width,
                        {text.int8.begin(), text.int8.end()},
                        {std::bit_cast<uint32_t>(static_cast<float>(text.scale))}});
  if (state.int8.size() < question.windows.size()) return;
  const auto best = [&](const std::vector<TokenLogits>& logits) {
    const std::vector<embert_answer> answers =
        best_answers(state.options, question.windows, logits);
    return answers.empty() ? std::string() : std::string(answer_text(answers[0], question.context));
  };
  state.answers[state.question].float32 = best(state.float32);
  state.answers[state.question].int8 = best(state.int8);
  ++state.question;
  state.float32.clear();
  state.int8.clear();
}

TaskMeasure measure_spans(const SpanState& state) {
  const SpanQuality quality = span_quality(state.answers);
  Json differing = Json::array();
  for (size_t i = 0; i < state.answers.size(); ++i) {
    const AnsweredQuestion& answer = state.answers[i];
    if (answer.float32 == answer.int8) continue;
    differing.push_back({{"line", i + 1},
                         {"text", state.questions[i].text},
                         {"right", answer.right},
                         {"float32", answer.float32},
                         {"int8", answer.int8}});
  }
  return {{{"agreement", agreement_of(state.answers.size(), differing.size())},
           {"answers", answers_json("answers", state.answers.size(), differing.size())},
           {"exact_match", both_json(quality.exact_match)},
           {"f1", both_json(quality.f1)},
           {"differing", std::move(differing)}},
          quality.loss};
}

/// The right answers of a line. Throws InputError.
std::vector<std::string> right_answers(const std::vector<std::string>& columns,
                                       const std::string& where) {
  if (columns.size() < 3) {
    throw InputError(where + ": expected question, a tab, context, a tab and an answer, and more " +
                     "right answers behind further tabs; found " + std::to_string(columns.size()) +
                     (columns.size() == 1 ? " column" : " columns"));
  }
  const std::vector<std::string> answers(columns.begin() + 2, columns.end());
  for (const std::string& answer : answers) {
    if (columns[1].find(answer) == std::string::npos) {
      throw InputError(where + ": the answer \"" + one_line(answer) +
                       "\" is not in the context, where models look for answers; copy it from "
                       "there, letter for letter");
    }
    if (answer.empty() && answers.size() > 1) {
      throw InputError(where +
                       ": an empty answer says that the context has none, and stands "
                       "alone; leave it out or the others");
    }
  }
  return answers;
}

/// The question of a line, whose windows become texts of the task.
Question question_of(LabelledTask& task, const ModelFile& file,
                     const std::vector<std::string>& columns, const std::string& where) {
  Question question = {columns[0], columns[1], {}};
  try {
    question.windows =
        windows_of(*file.model(), {question.text, question.context}, {file.info().max_tokens});
    check_not_empty(question.windows[0]);
  } catch (const TextError& error) {
    throw InputError(where + ": " + error.what());
  }
  for (const TextTokens& window : question.windows) {
    add_tokens(task.tokens, window);
    task.texts.add(question.text);
  }
  return question;
}

}  // namespace

LabelledTask span_task(const ModelFile& file, const std::string& path) {
  const auto state = std::make_shared<SpanState>();
  LabelledTask task;
  bool any_answer = false;
  for (const std::string& line : read_text_lines(path)) {
    const std::string where = line_of(path, state->questions.size());
    const std::vector<std::string> columns = split_columns(line);
    state->answers.push_back({right_answers(columns, where), {}, {}});
    const bool none = columns[2].empty();
    state->options.allow_no_answer |= none;
    any_answer |= !none;
    state->questions.push_back(question_of(task, file, columns, where));
  }
  if (!any_answer) {
    throw InputError(quoted_path(path) +
                     ": no line has an answer; give questions that the contexts answer, too");
  }
  task.see = [state](const convert::ComparedText& text) { see_window(text, *state); };
  task.measure = [state] { return measure_spans(*state); };
  return task;
}

}  // namespace embert::cli
