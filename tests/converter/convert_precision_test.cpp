// SPDX-License-Identifier: Apache-2.0
// convert() with the levels of precision: what each buys and costs, and models that have none.
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "converter/convert.hpp"
#include "embert/embert_inspect.h"
#include "tests/golden/golden_case.hpp"
#include "tests/support/model_folder.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/synthetic_blob.hpp"

namespace embert::convert {
namespace {

using test::AlignedBytes;

// The blob's planes; empty without that section.
std::vector<BlobPlanes> planes_of(const std::vector<std::uint8_t>& bytes) {
  const AlignedBytes blob(bytes);
  embert_model model;
  EXPECT_EQ(embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model),
            EMBERT_STATUS_OK);
  const auto& header = *reinterpret_cast<const BlobHeader*>(blob.data());
  const auto* sections = reinterpret_cast<const BlobSection*>(&header + 1);
  for (std::uint32_t i = 0; i < header.section_count; ++i) {
    if (sections[i].kind != kSectionPlanes) continue;
    const auto* planes = reinterpret_cast<const BlobPlanes*>(blob.data() + sections[i].offset);
    return {planes, planes + header.stacks[0].num_layers};
  }
  return {};
}

double error_of(const ConvertResult& result) {
  return 1 -
         nlohmann::json::parse(result.certificate).at("held_out").at("cosine_mean").get<double>();
}

TEST(ConvertPrecision, LevelsOfTheBundledModel) {
  ConvertOptions options;
  options.folder = EMBERT_SOURCE_DIR "/targets/demo/tiny-intent";
  options.isa_mask = embert_isa_detect();
  const auto at = [&](Precision precision) {
    options.precision = precision;
    return convert(options);
  };
  const ConvertResult fast = at(Precision::kFast), balanced = at(Precision::kBalanced),
                      high = at(Precision::kHigh);
  std::printf("tiny-intent, 1 - cosine: fast %.5f, balanced %.5f, high %.5f\n", error_of(fast),
              error_of(balanced), error_of(high));
  EXPECT_LT(error_of(balanced), 1.02 * error_of(fast));
  EXPECT_LT(error_of(high), 0.8 * error_of(fast));

  // Free, or nearly so: two column groups, and 16 bits for the first token's queries, keys, values.
  EXPECT_TRUE(fast.precision.layers.empty());
  ASSERT_EQ(planes_of(fast.blob).size(), 2u);
  for (const BlobPlanes& layer : planes_of(fast.blob)) {
    EXPECT_NE(layer.qkv, kPlanesAll);
    EXPECT_EQ(layer.attn_out + layer.ffn_up + layer.ffn_down, kPlanesNone);
    EXPECT_EQ(layer.copied_inputs, 0);
    EXPECT_EQ(layer.first_columns, 128);
  }
  for (const BlobPlanes& layer : planes_of(high.blob)) {
    EXPECT_EQ(layer.qkv, kPlanesAll);
    EXPECT_EQ(layer.probabilities, kPlanesScores);
  }
  // The error of queries and keys of 8 bits belongs to QKV as well: without its planes they have 8.
  for (std::size_t l = 0; l < high.precision.layers.size(); ++l) {
    const LayerPrecision& at_balanced = balanced.precision.layers[l];
    EXPECT_GT(high.precision.layers[l].qkv, 1.2 * (at_balanced.first + at_balanced.qkv)) << l;
  }
  EXPECT_GT(high.precision.cost, 0.5);
  EXPECT_LE(high.precision.cost, 0.86 + 0.2);  // the budget; 16 bits in the scores of rows of 128

  EXPECT_GT(balanced.precision.cost, 0);
  EXPECT_LE(balanced.precision.cost, 0.08);
  for (const ConvertResult* result : {&balanced, &high}) {
    const std::vector<BlobPlanes> chosen = planes_of(result->blob);
    ASSERT_EQ(chosen.size(), result->precision.layers.size());
    for (std::size_t l = 0; l < chosen.size(); ++l) {
      const LayerPrecision& layer = result->precision.layers[l];
      EXPECT_EQ(chosen[l].first_columns, 128);
      EXPECT_EQ(chosen[l].qkv, layer.planes.qkv);
      EXPECT_EQ(chosen[l].ffn_down, layer.planes.ffn_down);
      // An input whose planes take away no error keeps 8 bits, so that no multiply-add is wasted.
      EXPECT_TRUE(chosen[l].attn_out == kPlanesNone || layer.attn_out > 0);
      EXPECT_TRUE(chosen[l].ffn_up == kPlanesNone || layer.ffn_up > 0);
      EXPECT_TRUE(chosen[l].ffn_down == kPlanesNone || layer.ffn_down > 0);
      EXPECT_TRUE(chosen[l].probabilities == kPlanesNone || layer.probabilities > 0);
    }
  }
}

// A layer of this random model buys 16 bits for its probabilities and none for all rows of QKV. Its
// queries and keys have 8 bits then, or the runtime would refuse the blob.
TEST(ConvertPrecision, ProbabilitiesWithoutQkvLeaveQueriesAndKeysAt8Bits) {
  const test::TempFolder folder;
  test::write_model_folder(folder.path(), {.hidden = 256,
                                           .layers = 4,
                                           .intermediate = 32,
                                           .positions = 64,
                                           .tokenizer = true,
                                           .seed = 2});
  ConvertOptions options;
  options.folder = folder.path();
  options.rounding = Rounding::kNearest;
  options.calibration_texts = EMBERT_SOURCE_DIR "/targets/demo/sentences.txt";
  options.isa_mask = embert_isa_detect();
  options.certify = false;
  options.precision = Precision::kHigh;
  int without_qkv = 0;
  for (const BlobPlanes& layer : planes_of(convert(options).blob)) {
    if (layer.qkv == kPlanesAll || layer.probabilities == kPlanesNone) continue;
    ++without_qkv;
    EXPECT_EQ(layer.probabilities, kPlanesAll);
  }
  EXPECT_GT(without_qkv, 0);
}

TEST(ConvertPrecision, ThreadsAndKernelsChangeNoByte) {
  ConvertOptions options;
  options.folder = EMBERT_SOURCE_DIR "/targets/demo/tiny-intent";
  options.rounding = Rounding::kNearest;
  // Few texts, because the scalar kernels run them once for each layer's dense inputs.
  options.calibration_texts = EMBERT_SOURCE_DIR "/targets/demo/sentences.txt";
  options.precision = Precision::kBalanced;
  options.certify = false;
  const std::vector<std::uint8_t> one = convert(options).blob;
  options.threads = 2;
  options.isa_mask = embert_isa_detect();
  EXPECT_EQ(convert(options).blob, one);
}

// Folders to which no level applies say so, and their model is that of `fast`.
TEST(ConvertPrecision, ModelsWithoutPlanes) {
  for (const auto& [name, reason] :
       {std::pair{"encoder_decoder", "a pair of stacks has no 16-bit inputs"},
        {"mobilebert", "layers of MobileBERT have no 16-bit inputs"}}) {
    const std::string why_not = test::why_no_golden_case(EMBERT_SHARED_DIR, name);
    if (!why_not.empty()) GTEST_SKIP() << "NOT TESTED: " << why_not;
    ConvertOptions options;
    options.folder = test::golden_folder(EMBERT_SHARED_DIR, name);
    options.rounding = Rounding::kNearest;
    const std::vector<std::uint8_t> fast = convert(options).blob;
    options.precision = Precision::kHigh;
    const ConvertResult high = convert(options);
    EXPECT_TRUE(high.blob == fast) << name;
    EXPECT_EQ(high.warnings.back(), std::string("--precision high: ") + reason +
                                        "; the model is that of --precision fast");
  }
}

}  // namespace
}  // namespace embert::convert
