// SPDX-License-Identifier: Apache-2.0
// Answers against pipeline('question-answering'): texts and offsets exact, scores within
// kScoreTolerance. The pipeline gives a place more than once where windows overlap and where spans
// are widened to words; here only the best of them counts.
#include <algorithm>

#include "tests/runtime/tasks/task_golden.hpp"

#include "embert/embert_tasks.h"

namespace embert::test {
namespace {

TEST(AnswerGolden, EveryQuestionAndOption) {
  EMBERT_NEED_SHARED_DIR();
  int compared = 0;
  const Json golden = read_task("question_answering");
  for (const Json& item : golden["items"]) {
    const std::string question = item["question"], context = item["context"];
    SCOPED_TRACE(question);
    embert_tokenize_options cut = {.max_tokens = item["max_seq_len"],
                                   .stride = item["doc_stride"],
                                   .add_special_tokens = 1,
                                   .truncation = EMBERT_TRUNCATION_ONLY_SECOND};
    std::vector<Tokens> windows;
    std::vector<std::vector<std::int32_t>> logits;
    for (const Json& window : item["windows"]) {
      windows.push_back(task_tokenizer().encode(question, cut, context));
      const Tokens& tokens = windows.back();
      ASSERT_EQ(tokens.ids, window["ids"].get<std::vector<std::int32_t>>());
      ASSERT_EQ(tokens.char_offsets, window["offsets"].get<std::vector<std::uint32_t>>());
      ASSERT_EQ(tokens.word_ids, window["word_ids"].get<std::vector<std::int32_t>>());
      logits.emplace_back();
      for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
        ASSERT_EQ(window["cannot_be_answer"][i] == 0, i == 0 || tokens.sequence_ids[i] == 1);
        logits.back().push_back(quantize_logit(window["start_logits"][i]));
        logits.back().push_back(quantize_logit(window["end_logits"][i]));
      }
      ++cut.window;
    }
    ASSERT_EQ(cut.window, windows.back().windows);
    for (const Json& result : item["results"]) {
      const embert_answer_options options = {
          .size = sizeof(options),
          .max_answer_tokens = result["max_answer_len"],
          .align_to_words = result["align_to_words"] ? 1u : 0u,
          .allow_no_answer = result["handle_impossible_answer"] ? 1u : 0u};
      std::vector<embert_answer> room(result["top_k"].get<std::size_t>());
      embert_answers list;
      ASSERT_EQ(
          embert_answers_begin(&list, &options, scale_of(kTestScale), room.data(), room.size()),
          EMBERT_STATUS_OK);
      for (std::uint32_t w = 0; w < windows.size(); ++w) {
        const Tokens& tokens = windows[w];
        const embert_answer_window window = {.size = sizeof(window),
                                             .logits = logits[w].data(),
                                             .sequence_ids = tokens.sequence_ids.data(),
                                             .word_ids = tokens.word_ids.data(),
                                             .byte_offsets = tokens.byte_offsets.data(),
                                             .char_offsets = tokens.char_offsets.data(),
                                             .window = w,
                                             .tokens = tokens.ids.size()};
        ASSERT_EQ(embert_answers_add(&list, &window), EMBERT_STATUS_OK);
      }
      ASSERT_EQ(embert_answers_finish(&list), EMBERT_STATUS_OK);
      std::vector<Json> distinct;
      for (const Json& want : result["answers"]) {
        const bool known = std::any_of(distinct.begin(), distinct.end(), [&](const Json& other) {
          return other["start"] == want["start"] && other["end"] == want["end"];
        });
        if (!known) distinct.push_back(want);
      }
      ASSERT_GE(list.count, distinct.size());
      for (std::size_t i = 0; i < distinct.size(); ++i) {
        const embert_answer& answer = room[i];
        const Json& want = distinct[i];
        SCOPED_TRACE(want.dump());
        expect_score(answer.score, want["score"]);
        EXPECT_NEAR(real_log(answer.log2_score), std::log(want["score"].get<double>()),
                    kScoreTolerance);
        EXPECT_EQ(answer.char_begin, want["start"]);
        EXPECT_EQ(answer.char_end, want["end"]);
        EXPECT_EQ(context.substr(answer.byte_begin, answer.byte_end - answer.byte_begin),
                  want["answer"].get<std::string>());
        EXPECT_EQ(answer.is_no_answer != 0, want["answer"] == "");
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 26 * 6);
}

}  // namespace
}  // namespace embert::test
