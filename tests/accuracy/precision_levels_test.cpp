// SPDX-License-Identifier: Apache-2.0
// A higher level of precision is never clearly further from float32 than a lower one: on trained
// models, on one of twelve layers, and on every case of the reference data, with texts or ids that
// calibration does not see.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "converter/calibrate/tokens/builtin_texts.hpp"
#include "converter/calibrate/tokens/random_tokens.hpp"
#include "converter/convert.hpp"
#include "converter/reference/float_model.hpp"
#include "converter/verify/verify.hpp"
#include "embert/embert.h"
#include "tests/accuracy/accuracy_models.hpp"
#include "tests/golden/golden_case.hpp"
#include "tests/support/model_folder.hpp"

namespace embert::test {
namespace {

using convert::IntegerModel;
using convert::ModelBatch;
using convert::Precision;
using convert::TokenBatch;

// With fewer, one text of two logits near zero can be a third of a mean of cosines.
constexpr std::size_t kDrawnTexts = 8192;
constexpr std::int32_t kLeastTokens = 3;  // first, last, and one between
constexpr std::uint64_t kTextSeed = 0x6c6576656c73;
constexpr double kMostWorse = 1.02;
constexpr Precision kLevels[] = {Precision::kFast, Precision::kBalanced, Precision::kHigh};

// Without EMBERT_FULL: different heads and stacks.
constexpr const char* kFewCases[] = {"albert",
                                     "albert_question_answering",
                                     "decoder_causal",
                                     "encoder_absolute",
                                     "masked_lm",
                                     "modernbert",
                                     "question_answering",
                                     "token_classification"};

// Those of the drawn texts that have kLeastTokens. Half are lone tokens: calibration draws them for
// their extremes, but nobody asks a model about one.
TokenBatch random_texts(const convert::StackConfig& config, int max_tokens) {
  const TokenBatch drawn = convert::random_ids(config, max_tokens, kDrawnTexts, kTextSeed);
  TokenBatch texts;
  auto ids = drawn.ids.begin(), types = drawn.type_ids.begin();
  for (const std::int32_t length : drawn.lengths) {
    if (length >= kLeastTokens) {
      texts.ids.insert(texts.ids.end(), ids, ids + length);
      texts.type_ids.insert(texts.type_ids.end(), types, types + length);
      texts.lengths.push_back(length);
    }
    ids += length;
    types += length;
  }
  return texts;
}

ModelBatch texts_of(const convert::ModelFolder& folder, const IntegerModel& integers) {
  if (integers.info().has_tokenizer == 0) {
    const int max_tokens = static_cast<int>(integers.max_tokens());
    return complete_batch(folder.config, random_texts(folder.config.first(), max_tokens), false,
                          max_tokens, kTextSeed + 1);
  }
  const auto builtin = convert::builtin_certificate_texts();
  std::vector<std::string> listed;
  if (shared_data_present()) {
    for (const auto& text : listed_texts()) listed.push_back(text.text);
  }
  std::vector<std::string_view> texts(builtin.begin(), builtin.end());
  for (std::size_t i = 0; i < listed.size(); i += 4) texts.push_back(listed[i]);
  return batch_of_texts(folder.config, integers, texts);
}

struct Distance {
  double error = 0;         // VerifyResult::error
  double cosine_error = 0;  // mean of 1 - cosine
  std::size_t answers = 0, differing = 0;
};

// Of the models of a test, by level: answers that are not those of float32.
using Differing = std::array<std::size_t, std::size(kLevels)>;

Distance distance_of(const convert::ModelFolder& folder, convert::FloatModel& floats,
                     const std::vector<std::uint8_t>& blob) {
  IntegerModel integers(blob, {.isa_mask = embert_isa_detect()});
  const convert::VerifyResult result =
      verify(folder, floats, integers, texts_of(folder, integers), {});
  return {result.error, 1 - result.cosine_mean, result.answers, result.differing_answers};
}

void expect_no_level_worse(const std::string& name, const std::filesystem::path& path,
                           Differing& differing) {
  const convert::ModelFolder folder = convert::read_model_folder(path);
  convert::FloatModel floats(folder.config, folder.weights, 1, convert::FloatProducts::kXnnpack);
  convert::ConvertOptions options;
  options.folder = path;
  options.isa_mask = embert_isa_detect();
  options.certify = false;
  std::optional<Distance> lower;
  std::printf("%-40s", name.c_str());
  for (std::size_t i = 0; i < std::size(kLevels); ++i) {
    const Precision level = options.precision = kLevels[i];
    const Distance found = distance_of(folder, floats, convert::convert(options).blob);
    std::printf(" %s %.3f", precision_name(level), 1e4 * found.error);
    if (found.cosine_error != found.error) std::printf(" [%.3f]", 1e4 * found.cosine_error);
    if (found.answers > 0) std::printf(" (%zu/%zu)", found.differing, found.answers);
    if (lower) {
      EXPECT_LE(found.error, kMostWorse * lower->error) << name << ", " << precision_name(level);
      EXPECT_LE(found.cosine_error, kMostWorse * lower->cosine_error)
          << name << ", " << precision_name(level);
    }
    lower = found;
    differing[i] += found.differing;
  }
  std::printf("\n");
  std::fflush(stdout);
}

void print_differing(const Differing& differing) {
  const auto [fast, balanced, high] = differing;
  std::printf("answers that differ: fast %zu, balanced %zu, high %zu\n", fast, balanced, high);
}

// Each line: a model, and by level its error in 1e-4 [of logits mean of 1 - cosine] (answers that
// differ / answers).
TEST(PrecisionLevels, OfTrainedModels) {
  Differing differing = {};
  std::vector<std::string> names = {"demo/tiny-intent"};
  if (full_tests()) names.emplace_back("web/tiny-embed");
  for (const std::string& name : names) {
    expect_no_level_worse(name, std::filesystem::path(EMBERT_SOURCE_DIR) / "targets" / name,
                          differing);
  }
}

TEST(PrecisionLevels, OfTwelveLayers) {
  if (!full_tests()) GTEST_SKIP() << "NOT TESTED: takes long; set EMBERT_FULL=1";
  Differing differing = {};
  const TempFolder folder;
  write_model_folder(folder.path(), {.hidden = 64,
                                     .layers = 12,
                                     .heads = 4,
                                     .intermediate = 256,
                                     .positions = 64,
                                     .tokenizer = true});
  expect_no_level_worse("12 layers", folder.path(), differing);
}

TEST(PrecisionLevels, OfReferenceCases) {
  std::vector<std::string> cases(std::begin(kFewCases), std::end(kFewCases));
  if (full_tests()) cases = all_cases();
  std::size_t tested = 0;
  Differing differing = {};
  for (const std::string& name : cases) {
    const std::string why_not = why_no_golden_case(EMBERT_SHARED_DIR, name);
    if (!why_not.empty()) {
      std::printf("NOT TESTED: %s\n", why_not.c_str());
      continue;
    }
    expect_no_level_worse(name, golden_folder(EMBERT_SHARED_DIR, name), differing);
    ++tested;
  }
  if (tested == 0) GTEST_SKIP() << "NOT TESTED: no reference data";
  print_differing(differing);
}

}  // namespace
}  // namespace embert::test
