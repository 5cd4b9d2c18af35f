// SPDX-License-Identifier: Apache-2.0
// Golden vectors of the reference implementation, end to end: folder -> converter -> blob ->
// runtime. The models have no tokenizer, so seeded random ids calibrate them. Prints a table:
// cosine and largest error of each output.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "converter/convert.hpp"
#include "converter/integer_model.hpp"
#include "tests/support/golden_case.hpp"

namespace embert::convert {
namespace {

/// How far integers are from the reference, over all rows that were added. One row of one text can
/// be hit by a single softmax that turns over, so the bound for the worst row is looser than that
/// for all of them.
class Agreement {
 public:
  void add(const std::vector<float>& expected, const TextVectors& found) {
    ASSERT_EQ(expected.size(), found.values.size());
    for (std::size_t begin = 0; begin < expected.size(); begin += found.width) {
      double dot = 0, a = 0, b = 0;
      for (std::size_t i = begin; i < begin + found.width; ++i) {
        const double real = found.values[i] * found.scale;
        const double wanted = static_cast<double>(expected[i]);
        dot += real * wanted;
        a += real * real;
        b += wanted * wanted;
        error_ = std::max(error_, std::fabs(real - wanted));
      }
      worst_ = std::min(worst_, dot / std::sqrt(a * b));
      dot_ += dot;
      a_ += a;
      b_ += b;
      ++rows_;
    }
  }
  std::size_t rows() const { return rows_; }
  double cosine() const { return rows_ == 0 ? 1 : dot_ / std::sqrt(a_ * b_); }
  double worst_cosine() const { return worst_; }
  double error() const { return error_; }
  void print(const char* name, const char* what) const {
    if (rows_ == 0) return;
    std::printf("  %-38s %-7s rows %4zu  cosine %.6f  worst row %.6f  largest error %.4f\n", name,
                what, rows_, cosine(), worst_, error_);
  }

 private:
  double dot_ = 0, a_ = 0, b_ = 0, worst_ = 1, error_ = 0;
  std::size_t rows_ = 0;
};

class Golden : public testing::TestWithParam<const char*> {};

TEST_P(Golden, IntegersAgreeWithTheReference) {
  const std::filesystem::path folder = test::golden_folder(EMBERT_SHARED_DIR, GetParam());
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "NOT TESTED: no reference data at " << folder;
  ConvertOptions options;
  options.folder = folder;
  options.threads = 2;
  options.certify = false;
  const ConvertResult converted = convert(options);
  EXPECT_EQ(converted.source, CalibrationSource::kRandomIds);
  IntegerModel::Options run;
  run.isa_mask = embert_isa_detect();
  IntegerModel model(converted.blob, run);

  const test::GoldenCase golden(folder);
  Agreement hidden, pooled, logits;
  for (const std::string& call : golden.calls()) {
    const auto texts = golden.texts(call);
    if (!texts) continue;
    if (golden.has(call, "last_hidden_state")) {
      hidden.add(golden.valid_rows(call, "last_hidden_state"), model.encode(texts->batch));
    }
    if (golden.has(call, "pooler_output")) {
      pooled.add(golden.floats(call, "pooler_output"), model.pool(texts->batch));
    }
    if (golden.has(call, "logits"))
      logits.add(golden.floats(call, "logits"), model.classify(texts->batch));
  }
  hidden.print(GetParam(), "hidden");
  pooled.print(GetParam(), "pooled");
  logits.print(GetParam(), "logits");
  EXPECT_GT(hidden.rows() + logits.rows(), 0u);
  EXPECT_GE(hidden.cosine(), 0.9995);
  EXPECT_GE(hidden.worst_cosine(), 0.993);
  EXPECT_GE(pooled.cosine(), 0.999);
  EXPECT_GE(pooled.worst_cosine(), 0.996);
  EXPECT_GE(logits.cosine(), 0.999);
  EXPECT_LE(logits.error(), 0.2);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Golden,
    testing::Values("encoder_absolute", "encoder_padding_mask", "encoder_token_types",
                    "encoder_chunked_ffn", "activation_gelu", "activation_gelu_new",
                    "activation_relu", "activation_silu", "activation_tanh", "layer_norm_eps_1e_12",
                    "layer_norm_eps_1e_5", "no_pooler", "pooler", "deeper_encoder",
                    "sequence_classification_single_label", "sequence_classification_multi_label",
                    "sequence_classification_regression"),
    [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace embert::convert
