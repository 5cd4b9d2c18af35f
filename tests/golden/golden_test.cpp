// SPDX-License-Identifier: Apache-2.0
// Golden vectors of the reference implementation, end to end: folder -> converter -> blob ->
// runtime. The models have no tokenizer, so seeded random ids calibrate them. Prints a table, a
// line an output: the lowest cosine of a tensor and of a row, the largest error in parts of the
// tensor's largest value, and in how many rows the largest value stands where the reference has it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "tests/golden/agreement.hpp"
#include "tests/golden/golden_blob.hpp"
#include "tests/golden/golden_outputs.hpp"
#include "tests/support/golden_case.hpp"

namespace embert::test {
namespace {

/// "hidden_states" of "hidden_states.3".
std::string without_number(const std::string& output) { return output.substr(0, output.find('.')); }

/// All calls with engines of one kind.
std::map<std::string, GoldenOutputs> run_all(const AlignedBytes& blob, const GoldenCase& golden,
                                             std::uint32_t isa_mask, std::uint32_t threads,
                                             Padding padding) {
  std::map<std::string, GoldenOutputs> out;
  GoldenEngine engine(blob, isa_mask, threads);
  for (const std::string& call : golden.calls())
    out[call] = run_golden_call(engine, golden, call, padding);
  return out;
}

/// Greedy tokens are the reference's up to the first decision that float32 leaves open: the two
/// best logits are closer than the bound of the error.
void expect_tokens(const GoldenCase& golden, const std::string& call, const GoldenTensor& found,
                   const Bound& bound) {
  const std::vector<std::int32_t> expected = golden.ints(call, "sequences");
  const std::vector<float> logits = golden.floats(call, "step_logits");
  const auto width = static_cast<std::size_t>(golden.shape(call, "step_logits").back());
  const std::size_t given = expected.size() - logits.size() / width;
  ASSERT_EQ(found.values.size(), expected.size());
  float largest = 0;
  for (const float value : logits) largest = std::max(largest, std::fabs(value));
  std::size_t same = 0;
  while (same < expected.size() && found.values[same] == expected[same]) ++same;
  std::printf("%-37s tokens as the reference: %zu of %zu\n", call.c_str(), same - given,
              expected.size() - given);
  if (same == expected.size()) return;
  std::vector<float> step(logits.begin() + static_cast<std::ptrdiff_t>((same - given) * width),
                          logits.begin() + static_cast<std::ptrdiff_t>((same - given + 1) * width));
  std::ranges::sort(step, std::greater<>());
  EXPECT_LE(static_cast<double>(step[0] - step[1]), bound.error * static_cast<double>(largest))
      << call << ": token " << same << " differs although the decision is clear";
}

class Golden : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() { print_table_head(); }
};

TEST_P(Golden, AgreesWithTheReference) {
  const std::filesystem::path folder = golden_folder(EMBERT_SHARED_DIR, GetParam());
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "NOT TESTED: no reference data at " << folder;
  const AlignedBytes& blob = golden_blob(GetParam());
  const GoldenCase golden(folder);
  const std::uint32_t isa = embert_isa_detect();
  const auto found = run_all(blob, golden, isa, 1, Padding::kHidden);

  std::map<std::string, Agreement> lines;
  for (const std::string& call : golden.calls()) {
    for (const std::string& output : golden.outputs(call)) {
      if (is_cache(output)) continue;
      const GoldenTensor& tensor = found.at(call).at(output);
      if (output == "sequences") {
        expect_tokens(golden, call, tensor, bound_of(GetParam(), "step_logits"));
        continue;
      }
      const std::string line = without_number(output);
      const Bound bound = bound_of(GetParam(), line);
      const Agreement agreement = measure(golden.floats(call, output), tensor, bound);
      EXPECT_EQ(agreement.missed(bound), "") << call << "." << output;
      lines[line].add(agreement);
    }
  }
  EXPECT_FALSE(lines.empty());
  for (const auto& [output, agreement] : lines)
    print_table_line(GetParam(), output, agreement, bound_of(GetParam(), output));

  // Texts without their padding: the same bits.
  const auto cut = run_all(blob, golden, isa, 1, Padding::kCut);
  for (const auto& [call, outputs] : cut) {
    for (const auto& [output, tensor] : outputs) {
      const GoldenTensor& padded = found.at(call).at(output);
      std::size_t differences = 0;
      for (std::size_t i = 0; i < tensor.values.size(); ++i) {
        if (tensor.values[i] != GoldenTensor::kAbsent && tensor.values[i] != padded.values[i])
          ++differences;
      }
      EXPECT_EQ(differences, 0U) << call << "." << output << " without padding";
    }
  }

  // Other kernels and more threads: the same bits.
  for (const std::uint32_t allowed : {0U, 1U, 3U, 5U, 7U}) {
    for (const std::uint32_t threads : {1U, 2U}) {
      if ((allowed & isa) != allowed) continue;
      const auto other = run_all(blob, golden, allowed, threads, Padding::kHidden);
      for (const auto& [call, outputs] : found) {
        for (const auto& [output, tensor] : outputs)
          EXPECT_EQ(other.at(call).at(output), tensor)
              << call << "." << output << ", kernels " << allowed << ", threads " << threads;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(all_cases()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace embert::test
