// SPDX-License-Identifier: Apache-2.0
// Words for masks against pipeline('fill-mask'): words and texts exact, scores within
// kScoreTolerance.
#include "embert/embert_tasks.h"
#include "runtime/tasks/token_text.hpp"
#include "runtime/tasks/top_list.hpp"
#include "tests/runtime/tasks/task_golden.hpp"

namespace embert::test {
namespace {

std::string decode(const std::vector<std::int32_t>& ids, bool skip_special) {
  std::string text(1000, ' ');
  const embert_detokenize_options options = {
      .size = sizeof(options), .skip_special = skip_special ? 1u : 0u, .clean_up = 1};
  embert_text_buffer buffer = {.text = text.data(), .capacity = text.size()};
  EXPECT_EQ(detokenize(task_tokenizer().view(), ids.data(), ids.size(), options, &buffer),
            EMBERT_STATUS_OK);
  return text.substr(0, buffer.bytes);
}

void expect_words(const Json& expected, const std::vector<embert_candidate>& found,
                  std::vector<std::int32_t> ids, std::size_t position, bool single_mask) {
  ASSERT_GE(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(expected[i].dump());
    EXPECT_EQ(found[i].id, expected[i]["token"]);
    expect_score(found[i].score, expected[i]["score"]);
    EXPECT_NEAR(real_log(found[i].log2_score), std::log(expected[i]["score"].get<double>()),
                kScoreTolerance);
    EXPECT_EQ(decode({found[i].id}, false), expected[i]["token_str"].get<std::string>());
    ids[position] = found[i].id;
    EXPECT_EQ(decode(ids, single_mask), expected[i]["sequence"].get<std::string>());
  }
}

/// The file has the 20 best logits and the logarithm of the whole sum: what is missing in the sum
/// comes from a thousand equal logits, in blocks around the best ones.
TEST(FillMaskGolden, EveryMask) {
  EMBERT_NEED_SHARED_DIR();
  LogitRatio ratio;
  ASSERT_TRUE(make_logit_ratio(scale_of(kTestScale), &ratio));
  const Json golden = read_task("fill_mask");
  int compared = 0;
  for (const Json& item : golden["items"]) {
    SCOPED_TRACE(item["text"].dump());
    const std::vector<std::int32_t> ids = item["ids"];
    ASSERT_EQ(item["masks"].size(), item["results"].size());
    for (std::size_t m = 0; m < item["masks"].size(); ++m) {
      const Json& mask = item["masks"][m];
      const double log_sum = mask["logsumexp"];
      double rest = 1;
      for (const Json& logit : mask["top_logits"]) rest -= std::exp(logit.get<double>() - log_sum);
      ASSERT_GT(rest, 0);
      const double filling = log_sum + std::log(rest / 1000);
      ASSERT_LT(filling, mask["top_logits"].back());

      std::vector<embert_candidate> found(20);
      TopList list = begin_top_list(found.data(), found.size(), ratio);
      const std::vector<std::int32_t> half(500, quantize_logit(filling));
      add_to_top_list(&list, half.data(), half.size(), 100000);
      for (std::size_t i = 0; i < 20; ++i) {
        const std::int32_t logit = quantize_logit(mask["top_logits"][i]);
        add_to_top_list(&list, &logit, 1, mask["top_ids"][i]);
      }
      add_to_top_list(&list, half.data(), half.size(), 200000);
      const embert_log_sum sum = finish_top_list(&list);
      EXPECT_NEAR(sum.highest * double{kTestScale} + real_log(sum.log2_sum_q26), log_sum, 2e-6);
      for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(found[i].id, mask["top_ids"][i]);
      expect_words(item["results"][m], found, ids, mask["position"], item["masks"].size() == 1);
      ++compared;
    }
  }
  EXPECT_GE(compared, 21);
}

/// The targets' logits are not in the file: they follow from their scores.
TEST(FillMaskGolden, Targets) {
  EMBERT_NEED_SHARED_DIR();
  const Json golden = read_task("fill_mask");
  const Json& targets = golden["targets"];
  for (const Json& item : golden["items"]) {
    if (item["text"] != targets["text"]) continue;
    const Json& mask = item["masks"][0];
    const double log_sum = mask["logsumexp"], highest = mask["top_logits"][0];
    const embert_log_sum sum = {
        quantize_logit(highest),
        static_cast<std::uint32_t>((log_sum - highest) / std::log(2.0) * 67108864.0)};
    std::vector<embert_candidate> candidates;
    for (const Json& word : targets["targets"]) {
      std::vector<std::int32_t> ids;
      task_tokenizer().ids(word.get<std::string>(), &ids);
      ASSERT_EQ(ids.size(), 1u);
      for (const Json& result : targets["results"]) {
        const double logit = std::log(result["score"].get<double>()) + log_sum;
        if (result["token"] == ids[0]) candidates.push_back({ids[0], quantize_logit(logit), 0, 0});
      }
    }
    ASSERT_EQ(candidates.size(), 4u);
    embert_candidates list = {.items = candidates.data(), .capacity = 4, .count = 4};
    ASSERT_EQ(embert_score_candidates(&list, &sum, scale_of(kTestScale)), EMBERT_STATUS_OK);
    ASSERT_EQ(embert_rank_candidates(&list), EMBERT_STATUS_OK);
    ASSERT_EQ(list.count, 4u);
    expect_words(targets["results"], candidates, item["ids"], mask["position"], true);
    return;
  }
  FAIL() << "no item with the targets' text";
}

}  // namespace
}  // namespace embert::test
