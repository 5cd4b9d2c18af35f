// SPDX-License-Identifier: Apache-2.0
// The language model's head: logits against the formula, and the best tokens found block by block
// against those of all logits.
#include <cmath>

#include "embert/embert_lm.h"
#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/arithmetic/layout.hpp"
#include "tests/runtime/generation/decoder_models.hpp"

namespace embert::test {
namespace {

embert_candidates list_of(std::vector<embert_candidate>& items) {
  return {.items = items.data(), .capacity = items.size(), .count = items.size()};
}

constexpr std::uint32_t kKinds[] = {kHeadLm, kHeadLm | kHeadLmUntied, kHeadLm | kHeadLmTransform,
                                    kHeadLm | kHeadLmUntied | kHeadLmTransform};

class LanguageModel : public testing::TestWithParam<std::uint32_t> {
 protected:
  SyntheticModel shape_ = [] {
    SyntheticModel model;
    model.hidden_size = 36;
    model.num_heads = 3;
    model.head_size = 12;
    model.vocab_size = 700;  // more than two blocks
    model.heads = GetParam() | kHeadPooler;
    return model;
  }();
  AlignedBytes blob_ = AlignedBytes(make_synthetic_blob(shape_));
  const std::size_t words_ = shape_.vocab_size, size_ = shape_.hidden_size;
  Call call_ = [this] {
    Call call;
    call.ids = random_ids({9, 20}, shape_.vocab_size, 51);
    return call;
  }();

  template <typename T>
  const T* section(std::uint32_t kind) const {
    const auto* s = reinterpret_cast<const BlobSection*>(blob_.data() + sizeof(BlobHeader));
    while (s->kind != kind) ++s;
    return reinterpret_cast<const T*>(blob_.data() + s->offset);
  }
  const BlobHeader& header() const { return *reinterpret_cast<const BlobHeader*>(blob_.data()); }
  std::vector<std::int32_t> logits(embert_engine* engine, std::uint32_t row) const {
    std::vector<std::int32_t> values(words_);
    embert_scale scale = {};
    EXPECT_EQ(embert_lm_logits(engine, row, values.data(), &scale), EMBERT_STATUS_OK);
    EXPECT_EQ(scale.float_bits, header().lm_logits_scale);
    return values;
  }

  /// The vector that is multiplied with the token rows: dense layer, GELU and LayerNorm of a hidden
  /// state, in double.
  std::vector<double> transformed(const std::int16_t* hidden) const {
    if ((GetParam() & kHeadLmTransform) == 0) return {hidden, hidden + size_};
    const auto* weights = section<std::int8_t>(kSectionLmTransform);
    const std::size_t columns = pad_columns(size_), inputs = pad_inputs(size_);
    const auto* bias = reinterpret_cast<const std::int32_t*>(weights + columns * inputs);
    const std::int32_t* multipliers = bias + 2 * columns;
    const BlobShifts shifts = header().lm_transform.shifts;
    const double step = std::ldexp(1, -header().lm_exponent);
    std::vector<double> row;
    double mean = 0, squares = 0;
    for (std::size_t c = 0; c < size_; ++c) {
      double sum = bias[c];
      for (std::size_t i = 0; i < size_; ++i) {
        sum += hidden[i] * double{1} * weights[n16k4_index(c, i, inputs)];
      }
      const double y =
          step * std::clamp(sum * std::ldexp(multipliers[c], shifts.left - shifts.right - 31),
                            -32767.0, 32767.0);
      row.push_back(y * 0.5 * (1 + std::erf(y / std::sqrt(2.0))) / step);
      mean += row.back() / static_cast<double>(size_);
      squares += row.back() * row.back() / static_cast<double>(size_);
    }
    const std::int32_t* gain = section<std::int32_t>(kSectionLmNorm);
    for (std::size_t c = 0; c < size_; ++c) {
      const int shift = header().lm_norm.shift;
      row[c] =
          (row[c] - mean) / std::sqrt(squares - mean * mean + 1) * std::ldexp(gain[c], -shift) +
          std::ldexp(gain[size_ + c], 7 - shift);
    }
    return row;
  }
};

TEST_P(LanguageModel, LogitsAreProductsWithWords) {
  const bool untied = (GetParam() & kHeadLmUntied) != 0,
             transform = (GetParam() & kHeadLmTransform) != 0;
  const auto* rows = section<std::int8_t>(untied ? kSectionLmRows : kSectionWordEmbeddings);
  const auto* multipliers =
      section<std::int32_t>(untied ? kSectionLmMultipliers : kSectionWordMultipliers);
  const auto* bias = section<std::int32_t>(kSectionLmBias);
  std::vector<std::int32_t> expected[3];
  for (const Way way : all_ways()) {
    const GuardedEngine engine(blob_, way, 2);
    const std::vector<std::int16_t> hidden = joined(run(engine, call_).hidden);
    std::size_t i = 0;
    for (std::uint32_t row : {0u, 8u, 28u}) {
      const std::vector<std::int32_t> values = logits(engine, row);
      if (expected[i].empty()) expected[i] = values;
      EXPECT_EQ(values, expected[i++]);
      const std::vector<double> t = transformed(hidden.data() + row * size_);
      double error = 0, magnitude = 0;
      for (std::size_t v = 0; v < words_; ++v) {
        double sum = 0;
        for (std::size_t c = 0; c < size_; ++c) sum += t[c] * rows[v * size_ + c];
        const double logit = std::ldexp(sum * multipliers[v], -header().lm_shift) + bias[v];
        error = std::max(error, std::fabs(values[v] - logit));
        magnitude = std::max(magnitude, std::fabs(logit));
      }
      EXPECT_GT(magnitude, 100000);
      EXPECT_LT(error, magnitude * (transform ? 5e-3 : 1e-4));
    }
  }
}

TEST_P(LanguageModel, BestWordsAreThoseOfAllLogits) {
  for (const Way way : all_ways()) {
    const GuardedEngine engine(blob_, way, 2);
    run(engine, call_);
    for (std::uint32_t row : {0u, 28u}) {
      const std::vector<std::int32_t> values = logits(engine, row);
      for (std::size_t top_k : {1u, 5u, 300u, 1000u}) {
        std::vector<embert_candidate> words(top_k), expected(top_k);
        embert_candidates best = list_of(words), expected_best = list_of(expected);
        const embert_logits all = {values.data(), words_, {header().lm_logits_scale}};
        embert_log_sum sum = {}, expected_sum = {};
        embert_scale scale = {};
        ASSERT_EQ(embert_lm_top(engine, row, &best, &sum, &scale), EMBERT_STATUS_OK);
        EXPECT_EQ(scale.float_bits, header().lm_logits_scale);
        ASSERT_EQ(embert_top_candidates(&all, &expected_best, &expected_sum), EMBERT_STATUS_OK);
        EXPECT_EQ(best.count, std::min(top_k, words_));
        ASSERT_EQ(best.count, expected_best.count);
        EXPECT_EQ(sum.highest, expected_sum.highest);
        // The denominator is summed block by block here, over all logits at once there.
        EXPECT_NEAR(sum.log2_sum_q26, expected_sum.log2_sum_q26, 4);
        for (std::size_t i = 0; i < best.count; ++i) {
          EXPECT_EQ(words[i].id, expected[i].id);
          EXPECT_EQ(words[i].logit, expected[i].logit);
          EXPECT_NEAR(static_cast<double>(words[i].log2_score),
                      static_cast<double>(expected[i].log2_score), 4);
        }
      }
    }
  }
}

TEST_P(LanguageModel, ScoresOfGivenWordsAreThoseOfTheBest) {
  for (const Way way : all_ways()) {
    const GuardedEngine engine(blob_, way, 2);
    run(engine, call_);
    std::vector<embert_candidate> best(words_);
    embert_candidates best_list = list_of(best);
    embert_log_sum best_sum = {}, sum = {};
    ASSERT_EQ(embert_lm_top(engine, 17, &best_list, &best_sum, nullptr), EMBERT_STATUS_OK);
    std::vector<embert_candidate> given;
    for (std::size_t i : {699u, 0u, 350u, 0u, 256u}) given.push_back({best[i].id, 0, 0, 0});
    embert_scale scale = {};
    embert_candidates given_list = list_of(given);
    ASSERT_EQ(embert_lm_score(engine, 17, &given_list, &sum, &scale), EMBERT_STATUS_OK);
    EXPECT_EQ(scale.float_bits, header().lm_logits_scale);
    EXPECT_EQ(sum.highest, best_sum.highest);
    EXPECT_EQ(sum.log2_sum_q26, best_sum.log2_sum_q26);
    std::size_t i = 0;
    for (std::size_t rank : {699u, 0u, 350u, 0u, 256u}) {
      EXPECT_EQ(given[i].id, best[rank].id);
      EXPECT_EQ(given[i].logit, best[rank].logit);
      EXPECT_EQ(given[i].score, best[rank].score);
      EXPECT_EQ(given[i].log2_score, best[rank].log2_score);
      ++i;
    }
    EXPECT_GT(best[0].score, best[350].score);
  }
}

TEST_P(LanguageModel, RefusesWhatIsNotThere) {
  const GuardedEngine engine(blob_, all_ways()[0], 2);
  embert_candidate word = {};
  embert_candidates one = {.items = &word, .capacity = 1, .count = 1};
  std::vector<std::int32_t> values(words_);
  const auto row_status = [&](std::uint32_t row) {
    const embert_status status = embert_lm_logits(engine, row, values.data(), nullptr);
    EXPECT_EQ(embert_lm_top(engine, row, &one, nullptr, nullptr), status);
    word.id = 5;
    EXPECT_EQ(embert_lm_score(engine, row, &one, nullptr, nullptr), status);
    return status;
  };
  EXPECT_EQ(row_status(0), EMBERT_STATUS_ROW_OUT_OF_RANGE);  // no call yet
  run(engine, call_);
  EXPECT_EQ(row_status(28), EMBERT_STATUS_OK);
  EXPECT_EQ(row_status(29), EMBERT_STATUS_ROW_OUT_OF_RANGE);
  run(engine, call_, kWantPooled);
  EXPECT_EQ(row_status(0), EMBERT_STATUS_ROW_OUT_OF_RANGE);  // first rows only
  run(engine, call_, kWantPooled | kWantHidden);
  EXPECT_EQ(row_status(28), EMBERT_STATUS_OK);

  embert_candidates no_items = {.items = nullptr, .capacity = 1, .count = 1};
  embert_candidates no_room = {.items = &word, .capacity = 0, .count = 0};
  EXPECT_EQ(embert_lm_top(nullptr, 0, &one, nullptr, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_lm_top(engine, 0, nullptr, nullptr, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_lm_top(engine, 0, &no_items, nullptr, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_lm_top(engine, 0, &no_room, nullptr, nullptr), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(embert_lm_score(nullptr, 0, &one, nullptr, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_lm_score(engine, 0, nullptr, nullptr, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_lm_score(engine, 0, &no_items, nullptr, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_lm_score(engine, 0, &no_room, nullptr, nullptr), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(embert_lm_logits(nullptr, 0, values.data(), nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_lm_logits(engine, 0, nullptr, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  for (std::int32_t id : {-1, 700}) {
    word.id = id;
    EXPECT_EQ(embert_lm_score(engine, 0, &one, nullptr, nullptr), EMBERT_STATUS_TOKEN_OUT_OF_RANGE);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, LanguageModel, testing::ValuesIn(kKinds), [](const auto& tested) {
  return std::string((tested.param & kHeadLmUntied) != 0 ? "untied" : "tied") +
         ((tested.param & kHeadLmTransform) != 0 ? "_transform" : "");
});

TEST(NoLanguageModel, HasNoWords) {
  const AlignedBytes blob(make_synthetic_blob({}));
  const GuardedEngine engine(blob, all_ways()[0]);
  Call call;
  call.ids = {{1, 2, 3}};
  run(engine, call);
  embert_candidate word = {};
  embert_candidates one = {.items = &word, .capacity = 1, .count = 1};
  std::int32_t logits[100];
  EXPECT_EQ(embert_lm_logits(engine, 0, logits, nullptr), EMBERT_STATUS_NO_LM);
  EXPECT_EQ(embert_lm_top(engine, 0, &one, nullptr, nullptr), EMBERT_STATUS_NO_LM);
  EXPECT_EQ(embert_lm_score(engine, 0, &one, nullptr, nullptr), EMBERT_STATUS_NO_LM);
}

// The vocabulary is computed in blocks, and a tied head adds no table: MiniLM's shape with 30522
// tokens.
TEST(LanguageModelArena, NeedsLessThan64KiBMore) {
  SyntheticModel shape;
  shape.hidden_size = 384;
  shape.num_layers = 1;
  shape.num_heads = 12;
  shape.head_size = 32;
  shape.intermediate_size = 1536;
  shape.vocab_size = 30522;
  shape.max_positions = 128;
  shape.heads = 0;
  std::size_t bytes[2];
  for (std::uint32_t heads : {std::uint32_t{0}, kHeadLm | kHeadLmTransform}) {
    shape.heads = heads;
    const AlignedBytes blob(make_synthetic_blob(shape));
    const GuardedEngine engine(blob, {embert_isa_detect(), 1}, 1, 128);
    bytes[heads != 0 ? 1 : 0] = engine.bytes();
    Call call;
    call.ids = random_ids({128}, shape.vocab_size, 52);
    run(engine, call);
    if (heads == 0) continue;
    embert_candidate words[5];
    embert_candidates best = {.items = words, .capacity = 5};
    ASSERT_EQ(embert_lm_top(engine, 127, &best, nullptr, nullptr), EMBERT_STATUS_OK);
    EXPECT_EQ(best.count, 5u);
  }
  EXPECT_LE(bytes[1], bytes[0] + 64 * 1024);
}

}  // namespace
}  // namespace embert::test
