// SPDX-License-Identifier: Apache-2.0
// Decoding step by step on a cache against one pass over the whole text: the same bits in all
// hidden states, probabilities and logits, for every decoder of the reference data.
#include <gtest/gtest.h>

#include "tests/golden/golden_blob.hpp"
#include "tests/golden/golden_outputs.hpp"
#include "tests/support/random.hpp"

namespace embert::test {
namespace {

using Positions = std::vector<std::size_t>;  // one for each text

/// Random texts; one in eight tokens of the first text is hidden.
GoldenInput random_texts(const std::vector<std::uint32_t>& lengths, std::uint32_t vocab_size) {
  Random random(7);
  GoldenInput input;
  input.lengths = lengths;
  for (const std::uint32_t length : lengths) {
    input.length = std::max<std::size_t>(input.length, length);
    for (std::uint32_t i = 0; i < length; ++i) {
      input.ids.push_back(static_cast<std::int32_t>(random.below(vocab_size)));
      input.key_mask.push_back(input.ids.size() % 8 == 5 && input.lengths[0] > i ? 0 : 1);
    }
  }
  return input;
}

/// Row `row` of text `text`, in each attention head if the tensor has heads.
std::vector<std::vector<std::int32_t>> rows_of(const GoldenTensor& tensor, std::size_t text,
                                               std::size_t row) {
  const std::vector<std::size_t> shape(tensor.shape.begin(), tensor.shape.end());
  const std::size_t width = shape.back(), length = shape[shape.size() - 2];
  const std::size_t heads = shape.size() == 4 ? shape[1] : 1;
  std::vector<std::vector<std::int32_t>> rows;
  for (std::size_t head = 0; head < heads; ++head) {
    const auto at = tensor.values.begin() +
                    static_cast<std::ptrdiff_t>(((text * heads + head) * length + row) * width);
    rows.emplace_back(at, at + static_cast<std::ptrdiff_t>(width));
  }
  return rows;
}

/// Compares the rows of a step with those of the whole pass, from token begin[i] of text i on.
void expect_same_rows(const GoldenOutputs& whole, const GoldenOutputs& step,
                      const GoldenInput& input, const Positions& begin) {
  for (const auto& [name, tensor] : step) {
    std::size_t differences = 0;
    for (std::size_t text = 0; text < input.lengths.size(); ++text) {
      for (std::size_t row = 0; row < input.lengths[text]; ++row) {
        auto found = rows_of(tensor, text, row);
        const auto expected = rows_of(whole.at(name), text, begin[text] + row);
        // In the whole pass the probabilities of later keys are zeros.
        for (auto& values : found) values.resize(expected[0].size(), 0);
        differences += found != expected ? 1U : 0U;
      }
    }
    EXPECT_EQ(differences, 0U) << name << " from token " << begin[0] << " on";
  }
}

class Steps : public testing::TestWithParam<std::string> {};

TEST_P(Steps, EqualTheWholePass) {
  const std::filesystem::path folder = golden_folder(EMBERT_SHARED_DIR, GetParam());
  const std::string why_not = why_no_golden_blob(GetParam());
  if (!why_not.empty()) GTEST_SKIP() << "NOT TESTED: " << why_not;
  GoldenEngine engine(golden_blob(GetParam()), embert_isa_detect(), 2);
  const GoldenCase golden(folder);
  const std::uint32_t vocab_size = engine.info().vocab_size;
  const GoldenInput texts = random_texts({33, 23}, vocab_size);
  if (engine.info().num_stacks == 2) {
    engine.encode_source(golden_input(golden, "teacher_forced", "", Padding::kCut));
  } else if (engine.info().cross_hidden_size != 0) {
    engine.set_source(golden_source(golden, "no_cache", Padding::kCut));
  }
  engine.clear_cache();
  const GoldenOutputs whole = engine.run(texts);

  for (const Positions& ends :
       {Positions{1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                  13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23},
        Positions{16, 17, 18, 19, 20, 21, 22, 23}, Positions{5, 8, 21, 23}}) {
    engine.clear_cache();
    Positions begin = {0, 0};
    for (const std::size_t end : ends) {
      const Positions to = {end + 10, end};
      const GoldenInput step = golden_slice(texts, begin, to);
      expect_same_rows(whole, engine.run(step), step, begin);
      begin = to;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Steps, testing::ValuesIn(decoder_cases()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace embert::test
