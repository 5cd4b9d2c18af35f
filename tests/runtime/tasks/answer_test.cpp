// SPDX-License-Identifier: Apache-2.0
// Best spans: against a plain search over all of them, and what callers get wrong.
#include <gtest/gtest.h>

#include <algorithm>

#include "embert/embert_tasks.h"
#include "tests/runtime/tasks/task_numbers.hpp"
#include "tests/support/random.hpp"

namespace embert::test {
namespace {

/// [CLS] and `question` tokens and [SEP], `context` tokens and [SEP]. Words have two tokens, a
/// token two characters (three bytes).
struct AnswerCase {
  std::vector<std::int32_t> logits, sequence_ids, word_ids;
  std::vector<std::uint32_t> bytes, chars;
  std::uint32_t number = 0;

  AnswerCase(std::size_t question, std::size_t context, Random* random) {
    for (std::size_t i = 0; i < question + context + 3; ++i) {
      const bool in_context = i >= question + 2 && i < question + 2 + context;
      const bool special = i == 0 || i == question + 1 || i == question + context + 2;
      const std::size_t at = in_context ? i - question - 2 : i - 1;
      sequence_ids.push_back(special ? -1 : in_context ? 1 : 0);
      word_ids.push_back(special ? -1 : static_cast<std::int32_t>(at / 2));
      const std::uint32_t place = special ? 0 : static_cast<std::uint32_t>(at);
      bytes.insert(bytes.end(), {3 * place, special ? 0 : 3 * place + 3});
      chars.insert(chars.end(), {2 * place, special ? 0 : 2 * place + 2});
      for (int side = 0; side < 2; ++side) {
        logits.push_back(
            random == nullptr ? 0 : static_cast<std::int32_t>(random->uniform(-5 << 20, 5 << 20)));
      }
    }
  }
  embert_answer_window window() const {
    return {.size = sizeof(embert_answer_window),
            .logits = logits.data(),
            .sequence_ids = sequence_ids.data(),
            .word_ids = word_ids.data(),
            .byte_offsets = bytes.data(),
            .char_offsets = chars.data(),
            .window = number,
            .tokens = word_ids.size()};
  }
};

struct Span {
  double score = 0;
  std::uint32_t window = 0, start = 0, end = 0;  // start 0: no answer
  std::uint32_t begin = 0, last = 0;             // tokens of the context, after the widening
};

/// The best span of each place of all windows, best first: the definition.
std::vector<Span> all_spans(const std::vector<AnswerCase>& windows,
                            const embert_answer_options& options) {
  std::vector<Span> spans;
  double none = 1;
  for (const AnswerCase& text : windows) {
    const std::size_t n = text.word_ids.size();
    std::vector<double> p[2];
    for (std::size_t side = 0; side < 2; ++side) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const bool counts = i == 0 || text.sequence_ids[i] == 1;
        p[side].push_back(counts ? std::exp(text.logits[2 * i + side] * double{kTestScale}) : 0.0);
        sum += p[side].back();
      }
      for (double& value : p[side]) value /= sum;
    }
    none = std::min(none, p[0][0] * p[1][0]);
    for (std::uint32_t start = 1; start < n; ++start) {
      for (std::uint32_t end = start; end < n && end - start < options.max_answer_tokens; ++end) {
        if (text.sequence_ids[start] == 1 && text.sequence_ids[end] == 1) {
          const auto first = static_cast<std::uint32_t>(
              std::find(text.sequence_ids.begin(), text.sequence_ids.end(), 1) -
              text.sequence_ids.begin());
          const auto last = static_cast<std::uint32_t>(n) - 2 - first;
          std::uint32_t word_begin = start - first, word_last = end - first;
          if (options.align_to_words != 0) {
            word_begin -= word_begin % 2;
            word_last = std::min(word_last + 1 - word_last % 2, last);
          }
          spans.push_back({.score = p[0][start] * p[1][end],
                           .window = text.number,
                           .start = start,
                           .end = end,
                           .begin = word_begin,
                           .last = word_last});
        }
      }
    }
  }
  if (options.allow_no_answer != 0) spans.push_back({.score = none});
  std::stable_sort(spans.begin(), spans.end(),
                   [](const Span& a, const Span& b) { return a.score > b.score; });
  std::vector<Span> best;
  for (const Span& span : spans) {
    const bool known = std::any_of(best.begin(), best.end(), [&](const Span& other) {
      return (other.start == 0) == (span.start == 0) && other.begin == span.begin &&
             other.last == span.last;
    });
    if (!known) best.push_back(span);
  }
  return best;
}

embert_answer_options options_of(std::size_t max_answer_tokens, std::uint32_t align_to_words,
                                 std::uint32_t allow_no_answer) {
  return {.size = sizeof(embert_answer_options),
          .max_answer_tokens = max_answer_tokens,
          .align_to_words = align_to_words,
          .allow_no_answer = allow_no_answer};
}

class Answers : public SeededTest {};

TEST_F(Answers, AreTheBestOfAllSpans) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    std::vector<AnswerCase> windows;
    for (std::size_t w = 0; w < 1 + random.below(4); ++w) {
      windows.emplace_back(random.below(5), 1 + random.below(30), &random);
      windows.back().number = static_cast<std::uint32_t>(w);
    }
    const std::size_t max_tokens = 1 + random.below(40);
    const std::uint32_t align = static_cast<std::uint32_t>(random.below(2));
    const embert_answer_options options =
        options_of(max_tokens, align, static_cast<std::uint32_t>(random.below(2)));
    const std::vector<Span> expected = all_spans(windows, options);
    std::vector<embert_answer> room(1 + random.below(7));
    embert_answers list;
    ASSERT_EQ(embert_answers_begin(&list, &options, scale_of(kTestScale), room.data(), room.size()),
              EMBERT_STATUS_OK);
    for (const AnswerCase& text : windows) {
      const embert_answer_window window = text.window();
      ASSERT_EQ(embert_answers_add(&list, &window), EMBERT_STATUS_OK);
    }
    ASSERT_EQ(embert_answers_finish(&list), EMBERT_STATUS_OK);
    ASSERT_EQ(list.count, std::min(room.size(), expected.size()));
    for (std::size_t a = 0; a < list.count; ++a) {
      const embert_answer& answer = list.answers[a];
      EXPECT_NEAR(real(answer.score), expected[a].score, 1e-9 + 1e-7 * expected[a].score);
      EXPECT_NEAR(real_log(answer.log2_score), std::log(expected[a].score), 1e-6);
      EXPECT_EQ(answer.is_no_answer != 0, expected[a].start == 0);
      if (answer.is_no_answer != 0) continue;
      EXPECT_EQ(answer.window, expected[a].window);
      EXPECT_EQ(answer.first_token, expected[a].start);
      EXPECT_EQ(answer.last_token, expected[a].end);
      EXPECT_EQ(answer.char_begin, 2 * expected[a].begin);
      EXPECT_EQ(answer.char_end, 2 * expected[a].last + 2);
      EXPECT_EQ(answer.byte_begin, 3 * expected[a].begin);
      EXPECT_EQ(answer.byte_end, 3 * expected[a].last + 3);
    }
  }
}

TEST_F(Answers, EqualScoresStayInTheOrderOfTheText) {
  const AnswerCase text(1, 3, nullptr);
  const embert_answer_window window = text.window();
  const embert_answer_options options = options_of(2, 0, 1);
  embert_answer room[7];
  embert_answers list;
  ASSERT_EQ(embert_answers_begin(&list, &options, scale_of(1.0f), room, 7), EMBERT_STATUS_OK);
  ASSERT_EQ(embert_answers_add(&list, &window), EMBERT_STATUS_OK);
  ASSERT_EQ(embert_answers_finish(&list), EMBERT_STATUS_OK);
  ASSERT_EQ(list.count, 6u);
  const std::uint32_t spans[6][2] = {{3, 3}, {3, 4}, {4, 4}, {4, 5}, {5, 5}, {0, 0}};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(room[i].first_token, spans[i][0]);
    EXPECT_EQ(room[i].last_token, spans[i][1]);
    EXPECT_NEAR(real(room[i].score), 1.0 / 16, 1e-9);
  }
  EXPECT_EQ(room[5].is_no_answer, 1u);
}

/// An answer that is next to impossible is still the best that there is, and in the right order.
TEST_F(Answers, TinyScoresKeepTheirOrder) {
  AnswerCase text(1, 2, nullptr);
  text.logits = {60, 60, 0, 0, 0, 0, 0, -3, 1, 2, 0, 0};
  const embert_answer_window window = text.window();
  const embert_answer_options options = options_of(15, 0, 0);
  embert_answer room[3];
  embert_answers list;
  ASSERT_EQ(embert_answers_begin(&list, &options, scale_of(1.0f), room, 3), EMBERT_STATUS_OK);
  ASSERT_EQ(embert_answers_add(&list, &window), EMBERT_STATUS_OK);
  ASSERT_EQ(embert_answers_finish(&list), EMBERT_STATUS_OK);
  ASSERT_EQ(list.count, 3u);
  EXPECT_EQ(room[0].first_token, 4u);
  EXPECT_EQ(room[1].first_token, 3u);
  EXPECT_EQ(room[1].last_token, 4u);
  EXPECT_EQ(room[2].last_token, 3u);
  EXPECT_EQ(room[0].score, 0u);
  EXPECT_NEAR(real_log(room[0].log2_score), -117.0, 1e-4);
}

/// Without special tokens behind the context, words end with the window.
TEST_F(Answers, AlignmentStaysInTheWindow) {
  AnswerCase text(1, 3, nullptr);
  embert_answer_window window = text.window();
  window.tokens = 4;  // the first token of the context's first word
  embert_answer room[1];
  embert_answers list;
  ASSERT_EQ(embert_answers_begin(&list, nullptr, scale_of(1.0f), room, 1), EMBERT_STATUS_OK);
  ASSERT_EQ(embert_answers_add(&list, &window), EMBERT_STATUS_OK);
  EXPECT_EQ(room[0].first_token, 3u);
  EXPECT_EQ(room[0].char_end, 2u);
}

TEST_F(Answers, BadArguments) {
  const AnswerCase text(2, 3, nullptr);
  const embert_answer_window good = text.window();
  embert_answer room[1];
  embert_answers list;
  const embert_scale one = scale_of(1.0f);
  const auto begin_with = [&](embert_answer_options options) {
    return embert_answers_begin(&list, &options, one, room, 1);
  };
  EXPECT_EQ(embert_answers_begin(nullptr, nullptr, one, room, 1), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_answers_begin(&list, nullptr, one, nullptr, 1), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_answers_begin(&list, nullptr, one, room, 0), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(embert_answers_begin(&list, nullptr, scale_of(0.0f), room, 1),
            EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(begin_with(options_of(0, 1, 0)), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(begin_with(options_of(15, 2, 0)), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(begin_with(options_of(15, 1, 2)), EMBERT_STATUS_INVALID_OPTION);

  ASSERT_EQ(embert_answers_begin(&list, nullptr, one, room, 1), EMBERT_STATUS_OK);
  const embert_answer_options defaults = embert_answer_options_default();
  EXPECT_EQ(defaults.max_answer_tokens, 15u);
  EXPECT_EQ(defaults.align_to_words, 1u);
  EXPECT_EQ(defaults.allow_no_answer, 0u);
  const auto add_with = [&](void (*change)(embert_answer_window&)) {
    embert_answer_window window = good;
    change(window);
    return embert_answers_add(&list, &window);
  };
  EXPECT_EQ(embert_answers_add(nullptr, &good), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_answers_add(&list, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(add_with([](embert_answer_window& w) { w.logits = nullptr; }),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(add_with([](embert_answer_window& w) { w.sequence_ids = nullptr; }),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(add_with([](embert_answer_window& w) { w.word_ids = nullptr; }),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(add_with([](embert_answer_window& w) { w.byte_offsets = nullptr; }),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(add_with([](embert_answer_window& w) { w.char_offsets = nullptr; }),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(add_with([](embert_answer_window& w) { w.tokens = 0; }), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(add_with([](embert_answer_window& w) { w.tokens = 4; }),
            EMBERT_STATUS_EMPTY_INPUT);  // question only
  EXPECT_EQ(add_with([](embert_answer_window& w) { w.sequence_ids += 1; }),
            EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(add_with([](embert_answer_window& w) { w.tokens = (1u << 23) + 1; }),
            EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(embert_answers_finish(nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_answers_finish(&list), EMBERT_STATUS_EMPTY_INPUT);
  ASSERT_EQ(add_with([](embert_answer_window&) {}), EMBERT_STATUS_OK);
  EXPECT_EQ(embert_answers_finish(&list), EMBERT_STATUS_OK);
  EXPECT_EQ(list.count, 1u);
}

}  // namespace
}  // namespace embert::test
