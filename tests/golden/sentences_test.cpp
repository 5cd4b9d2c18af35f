// SPDX-License-Identifier: Apache-2.0
// Folders of sentence-transformers (cases sentence_*): the ids of each text exactly, and the
// embedding against the float32 one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "converter/import/json_file.hpp"
#include "embert/embert_tokenizer.h"
#include "tests/golden/golden_blob.hpp"
#include "tests/golden/golden_case.hpp"
#include "tests/runtime/engine/engine_session.hpp"

namespace embert::test {
namespace {

constexpr double kLeastCosine = 0.995, kLeastMean = 0.999;

std::vector<std::string> sentence_cases() {
  std::vector<std::string> names = all_cases();
  std::erase_if(names, [](const std::string& name) {
    return name != "no_data" && !name.starts_with("sentence_");
  });
  return names;
}

class Sentences : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string why_not = why_no_golden_blob(GetParam());
    if (!why_not.empty()) GTEST_SKIP() << "NOT TESTED: " << why_not;
  }
};

TEST_P(Sentences, HaveTheReferencesIdsAndEmbeddings) {
  const AlignedBytes& blob = golden_blob(GetParam());
  const embert_model model = open_model(blob, embert_isa_detect());
  const embert_options options = embert_options_default(&model);
  AlignedBytes arena(arena_bytes(model, options));
  embert_engine* engine = nullptr;
  ASSERT_EQ(embert_engine_init(&model, &options, arena.data(), arena.size(), &engine),
            EMBERT_STATUS_OK);
  const convert::Json items = convert::read_json_file(
      golden_folder(EMBERT_SHARED_DIR, GetParam()) / "sentences.json", "sentences.json")["items"];
  double sum = 0, least = 1;
  for (const convert::Json& item : items) {
    const auto string = item.at("text").get<std::string>();
    const embert_text text = {string.data(), string.size(), nullptr, 0};
    std::vector<std::int32_t> ids(options.max_tokens);
    embert_tokens tokens = {.size = sizeof(tokens)};
    tokens.capacity = options.max_tokens;
    tokens.ids = ids.data();
    ASSERT_EQ(embert_tokenize(&model, &text, nullptr, &tokens), EMBERT_STATUS_OK) << string;
    ids.resize(tokens.length);
    EXPECT_EQ(ids, item.at("ids").get<std::vector<std::int32_t>>()) << string;

    const auto expected = item.at("embedding").get<std::vector<double>>();
    std::vector<std::int16_t> vector(expected.size());
    ASSERT_EQ(embert_embed_text(engine, &text, vector.data(), nullptr), EMBERT_STATUS_OK) << string;
    double product = 0, found_square = 0, square = 0;
    for (std::size_t c = 0; c < expected.size(); ++c) {
      product += expected[c] * vector[c];
      found_square += static_cast<double>(vector[c]) * vector[c];
      square += expected[c] * expected[c];
    }
    const double cosine = product / std::sqrt(found_square * square);
    sum += cosine;
    least = std::min(least, cosine);
  }
  const double mean = sum / static_cast<double>(items.size());
  std::printf("%-37s %zu embeddings: mean cosine %.5f, least %.5f\n", GetParam().c_str(),
              items.size(), mean, least);
  EXPECT_GE(mean, kLeastMean);
  EXPECT_GE(least, kLeastCosine);
}

INSTANTIATE_TEST_SUITE_P(Cases, Sentences, testing::ValuesIn(sentence_cases()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace embert::test
