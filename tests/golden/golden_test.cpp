// SPDX-License-Identifier: Apache-2.0
// Golden vectors of the reference implementation, end to end: folder -> converter -> blob ->
// runtime. Seeded random ids calibrate
// the models, which have no tokenizer but in sentence_*. Prints a table with a
// line for each output: the lowest cosine of a tensor and of a row, the largest error as a fraction
// of the tensor's largest value, the number of rows whose largest value is at another index than in
// the reference, and the largest lead of these rows (agreement.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "embert/embert_inspect.h"
#include "tests/golden/agreement.hpp"
#include "tests/golden/golden_blob.hpp"
#include "tests/golden/golden_case.hpp"
#include "tests/golden/golden_outputs.hpp"
#include "tests/support/system/isa_masks.hpp"

namespace embert::test {
namespace {

/// "hidden_states" of "hidden_states.3".
std::string without_number(const std::string& output) { return output.substr(0, output.find('.')); }

/// The outputs of all calls, with one engine.
std::map<std::string, GoldenOutputs> run_all(const AlignedBytes& blob, const GoldenCase& golden,
                                             std::uint32_t isa_mask, std::uint32_t threads,
                                             Padding padding) {
  std::map<std::string, GoldenOutputs> out;
  GoldenEngine engine(blob, isa_mask, threads);
  EXPECT_EQ(engine.info().isa_mask, isa_mask);
  for (const std::string& call : golden.calls())
    out[call] = run_golden_call(engine, golden, call, padding);
  return out;
}

/// Greedy tokens equal the reference's, unless the reference's best logit leads by less than the
/// bound: there, and after it, int8 may choose another token.
void expect_tokens(const std::string& golden_case, const GoldenCase& golden,
                   const std::string& call, const GoldenTensor& found) {
  const Bound bound = bound_of(golden_case, "step_logits");
  const std::vector<std::int32_t> expected = golden.ints(call, "sequences");
  const std::vector<float> logits = golden.floats(call, "step_logits");
  const auto width = static_cast<std::size_t>(golden.shape(call, "step_logits").back());
  const std::size_t given = expected.size() - logits.size() / width;
  ASSERT_EQ(found.values.size(), expected.size());
  float largest = 0;
  for (const float value : logits) largest = std::max(largest, std::fabs(value));
  std::size_t same = 0;
  while (same < expected.size() && found.values[same] == expected[same]) ++same;
  std::printf("%-37s %-25s %zu of %zu tokens are the reference's\n", golden_case.c_str(),
              (call + ".sequences").c_str(), same - given, expected.size() - given);
  if (same == expected.size()) return;
  std::vector<float> step(logits.begin() + static_cast<std::ptrdiff_t>((same - given) * width),
                          logits.begin() + static_cast<std::ptrdiff_t>((same - given + 1) * width));
  std::ranges::sort(step, std::greater<>());
  EXPECT_LE(static_cast<double>(step[0] - step[1]), bound.lead * static_cast<double>(largest))
      << call << ": token " << same << " differs although the decision is clear";
}

class Golden : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() { print_table_head(); }
  void SetUp() override {
    folder_ = golden_folder(EMBERT_SHARED_DIR, GetParam());
    const std::string why_not = why_no_golden_blob(GetParam());
    if (!why_not.empty()) GTEST_SKIP() << "NOT TESTED: " << why_not;
  }

  std::filesystem::path folder_;
  std::uint32_t isa_ = runnable_isas();
};

TEST_P(Golden, AgreesWithTheReference) {
  const GoldenCase golden(folder_);
  const auto found = run_all(golden_blob(GetParam()), golden, isa_, 1, Padding::kHidden);
  std::map<std::string, Agreement> lines;
  for (const std::string& call : golden.calls()) {
    for (const std::string& output : golden.outputs(call)) {
      if (is_cache(output)) continue;
      const GoldenTensor& tensor = found.at(call).at(output);
      if (output == "sequences") {
        expect_tokens(GetParam(), golden, call, tensor);
        continue;
      }
      const std::string line = without_number(output);
      const Agreement agreement = measure(golden.floats(call, output), tensor);
      EXPECT_EQ(agreement.missed(bound_of(GetParam(), line)), "") << call << "." << output;
      lines[line].add(agreement);
    }
  }
  EXPECT_FALSE(lines.empty());
  for (const auto& [output, agreement] : lines)
    print_table_line(GetParam(), output, agreement, bound_of(GetParam(), output));
}

TEST_P(Golden, PaddingChangesNoBit) {
  const GoldenCase golden(folder_);
  if (golden.reads_padding()) GTEST_SKIP() << "words beside the padding read it, whatever the mask";
  const AlignedBytes& blob = golden_blob(GetParam());
  const auto hidden = run_all(blob, golden, isa_, 1, Padding::kHidden);
  for (const auto& [call, outputs] : run_all(blob, golden, isa_, 1, Padding::kCut)) {
    for (const auto& [output, tensor] : outputs) {
      const std::vector<std::int32_t>& padded = hidden.at(call).at(output).values;
      std::size_t differences = 0;
      for (std::size_t i = 0; i < padded.size(); ++i) {
        if (tensor.values[i] != GoldenTensor::kAbsent && tensor.values[i] != padded[i])
          ++differences;
      }
      EXPECT_EQ(differences, 0U) << call << "." << output;
    }
  }
}

TEST_P(Golden, KernelsAndThreadsChangeNoBit) {
  const GoldenCase golden(folder_);
  const AlignedBytes& blob = golden_blob(GetParam());
  const auto expected = run_all(blob, golden, isa_, 1, Padding::kHidden);
  for (const std::uint32_t allowed : isa_masks()) {
    for (const std::uint32_t threads : {1U, 2U}) {
      if ((allowed & isa_) != allowed) continue;
      const auto found = run_all(blob, golden, allowed, threads, Padding::kHidden);
      EXPECT_TRUE(found == expected) << "kernels " << allowed << ", threads " << threads;
    }
  }
}

// The converter recorded the checksum of the scalar kernels.
TEST_P(Golden, SelftestPasses) {
  for (const std::uint32_t allowed : isa_masks()) {
    GoldenEngine engine(golden_blob(GetParam()), allowed & isa_, 2);
    const embert_model_info& info = engine.info();
    const bool has_source = info.num_stacks == 1 && info.cross_hidden_size > 0;
    EXPECT_EQ(engine.selftest(), has_source ? EMBERT_STATUS_NO_SELFTEST : EMBERT_STATUS_OK);
  }
}

// With only pooler and classifier asked for, the last layer computes token 0 alone.
TEST_P(Golden, FirstRowsAloneAreTheSame) {
  const GoldenCase golden(folder_);
  GoldenEngine engine(golden_blob(GetParam()), isa_, 1);
  if (engine.info().has_pooler == 0) return;  // no head on token 0
  for (const std::string& call : golden.calls()) {
    const GoldenInput input = golden_input(golden, call, "", Padding::kCut);
    const GoldenOutputs all = engine.run(input);
    for (const auto& [output, tensor] : engine.run_token_zero(input))
      EXPECT_TRUE(tensor == all.at(output)) << call << "." << output;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(all_cases()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace embert::test
