// SPDX-License-Identifier: Apache-2.0
// Accuracy of int8 against float32, for models converted with the built-in calibration text: the
// bundled intent model on all of CLINC150's test sentences, and all-MiniLM-L6-v2 on the 1,000 texts
// of texts.tsv. EMBERT_MINILM_DIR names its folder, EMBERT_MINILM_BLOB a blob made before.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "converter/import/read_model_folder.hpp"
#include "converter/reference/float_model.hpp"
#include "converter/verify/verify.hpp"
#include "tests/accuracy/accuracy_models.hpp"

namespace embert::test {
namespace {

using convert::FloatModel;
using convert::IntegerModel;
using convert::ModelFolder;
using convert::VerifyResult;

constexpr std::uint32_t kMaxTokens = 128;
constexpr double kLeastMean = 0.9992, kLeastCosine = 0.995;
constexpr std::size_t kMostBlobBytes = 24'500'000;
constexpr double kLeastAgreement = 0.99, kMostAccuracyLoss = 0.003;

IntegerModel::Options fastest() {
  IntegerModel::Options options;
  options.isa_mask = embert_isa_detect();
  options.threads = kAccuracyThreads;
  options.max_tokens = kMaxTokens;
  return options;
}

template <typename Text>
std::vector<std::string_view> views_of(const std::vector<Text>& texts) {
  std::vector<std::string_view> views;
  for (const Text& text : texts) views.push_back(text.text);
  return views;
}

void print_row(const char* name, std::vector<double> cosines) {
  std::sort(cosines.begin(), cosines.end());
  double sum = 0;
  for (const double value : cosines) sum += value;
  const std::size_t count = cosines.size();
  std::printf("%-10s %5zu  mean %.6f  p01 %.6f  min %.6f\n", name, count,
              sum / static_cast<double>(count), cosines[(count + 99) / 100 - 1], cosines.front());
}

TEST(Accuracy, MiniLm) {
  const char* folder_name = std::getenv("EMBERT_MINILM_DIR");
  if (folder_name == nullptr) {
    GTEST_SKIP() << "NOT TESTED: EMBERT_MINILM_DIR does not name the folder of all-MiniLM-L6-v2";
  }
  if (!shared_data_present()) GTEST_SKIP() << "NOT TESTED: no test texts below " EMBERT_SHARED_DIR;
  const char* blob_name = std::getenv("EMBERT_MINILM_BLOB");
  const std::vector<std::uint8_t> blob =
      blob_name != nullptr ? read_bytes(blob_name)
                           : convert_folder(folder_name, convert::Rounding::kGptq);
  EXPECT_LE(blob.size(), kMostBlobBytes);

  const ModelFolder folder = convert::read_model_folder(folder_name);
  FloatModel floats(folder.config, folder.weights, kAccuracyThreads);
  IntegerModel integers(blob, fastest());
  const std::vector<ListedText> texts = listed_texts();
  ASSERT_EQ(texts.size(), 1000u);
  const VerifyResult result =
      convert::verify(folder, floats, integers, integers.tokenize(views_of(texts)));

  std::printf("blob %zu bytes, arena %zu bytes, %zu tokens, %s\n", blob.size(),
              integers.arena_bytes(), result.tokens, embert_isa_name(integers.info().isa_mask));
  for (const Corpus corpus : kCorpora) {
    std::vector<double> cosines;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (texts[i].corpus == corpus) cosines.push_back(result.cosines[i]);
    }
    ASSERT_EQ(cosines.size(), 250u);
    print_row(corpus_name(corpus), cosines);
  }
  print_row("all", result.cosines);
  for (const auto& worst : result.worst) {
    const ListedText& text = texts[worst.text];
    std::printf("%.6f  %s %zu\n", worst.cosine, corpus_name(text.corpus), text.number);
  }
  EXPECT_GE(result.cosine_mean, kLeastMean);
  EXPECT_GE(result.cosine_min, kLeastCosine);
}

TEST(Accuracy, IntentModel) {
  const std::vector<std::uint8_t> blob = convert_folder(intent_folder(), convert::Rounding::kGptq);
  const ModelFolder folder = convert::read_model_folder(intent_folder());
  FloatModel floats(folder.config, folder.weights, kAccuracyThreads);
  IntegerModel integers(blob, [] {
    IntegerModel::Options options = fastest();
    options.max_tokens = 0;
    return options;
  }());

  std::vector<LabelledText> texts = intent_test_texts();
  std::erase_if(texts, [](const LabelledText& text) { return text.label == "oos"; });
  ASSERT_EQ(texts.size(), 4500u);
  const std::vector<std::string>& names = folder.config.label_names;
  std::vector<std::int32_t> labels;
  for (const LabelledText& text : texts) {
    const auto found = std::find(names.begin(), names.end(), text.label);
    ASSERT_NE(found, names.end()) << text.label;
    labels.push_back(static_cast<std::int32_t>(found - names.begin()));
  }
  convert::VerifyOptions options;
  options.labels = labels;
  const VerifyResult result =
      convert::verify(folder, floats, integers, integers.tokenize(views_of(texts)), options);
  std::printf(
      "blob %zu bytes; %zu texts: agreement %.4f, accuracy float32 %.4f, int8 %.4f, "
      "largest logit difference %.3f\n",
      blob.size(), result.texts, result.agreement, *result.accuracy_float, *result.accuracy_int8,
      result.logit_error_max);
  EXPECT_GE(result.agreement, kLeastAgreement);
  EXPECT_GE(*result.accuracy_int8, *result.accuracy_float - kMostAccuracyLoss);
  EXPECT_NEAR(*result.accuracy_float, 0.9389, 0.0005);  // from the model's card
}

}  // namespace
}  // namespace embert::test
