// SPDX-License-Identifier: Apache-2.0
#include "converter/verify/verify.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "converter/convert.hpp"
#include "converter/convert_error.hpp"
#include "converter/reference/float_model.hpp"
#include "converter/reference/float_vector.hpp"
#include "tests/accuracy/accuracy_models.hpp"
#include "tests/support/model_folder.hpp"

namespace embert::convert {
namespace {

using test::ModelOptions;
using test::TempFolder;

/// A random model with everything that a comparison needs.
struct Pair {
  explicit Pair(const ModelOptions& options) {
    test::write_model_folder(temp.path(), options);
    blob = test::convert_folder(temp.path(), Rounding::kNearest);
    folder = read_model_folder(temp.path());
    floats.emplace(folder.config, folder.weights, 1);
    integers.emplace(blob, IntegerModel::Options{});
  }

  TempFolder temp;
  std::vector<std::uint8_t> blob;
  ModelFolder folder;
  std::optional<FloatModel> floats;
  std::optional<IntegerModel> integers;
};

TokenBatch some_ids(std::size_t texts) {
  TokenBatch batch;
  for (std::size_t i = 0; i < texts; ++i) {
    const std::int32_t length = 3 + static_cast<std::int32_t>(i % 20);
    batch.lengths.push_back(length);
    for (std::int32_t t = 0; t < length; ++t) {
      batch.ids.push_back(
          static_cast<std::int32_t>((i * 37 + static_cast<std::size_t>(t) * 11) % 96));
    }
  }
  return batch;
}

TEST(Verify, EmbedderByIds) {
  Pair pair(ModelOptions{});
  const VerifyResult result = verify(pair.folder, *pair.floats, *pair.integers, some_ids(150));
  EXPECT_EQ(result.compared, Compared::kEmbeddings);
  EXPECT_EQ(result.texts, 150u);
  EXPECT_EQ(result.tokens, some_ids(150).ids.size());
  ASSERT_EQ(result.cosines.size(), 150u);
  EXPECT_GT(result.cosine_min, 0.99);
  EXPECT_LE(result.cosine_min, result.cosine_p01);
  EXPECT_LE(result.cosine_p01, result.cosine_mean);
  ASSERT_EQ(result.worst.size(), 5u);
  EXPECT_EQ(result.worst[0].cosine, result.cosine_min);
  EXPECT_EQ(result.cosines[result.worst[0].text], result.cosine_min);
  EXPECT_FALSE(result.accuracy_float);
}

TEST(Verify, DoesNotDependOnHowTextsRunTogether) {
  Pair pair(ModelOptions{});
  const TokenBatch batch = some_ids(70);
  const VerifyResult together = verify(pair.folder, *pair.floats, *pair.integers, batch);
  std::size_t token = 0;
  for (std::size_t i = 0; i < batch.lengths.size(); ++i) {
    TokenBatch one;
    one.lengths = {batch.lengths[i]};
    const auto first = batch.ids.begin() + static_cast<std::ptrdiff_t>(token);
    one.ids.assign(first, first + batch.lengths[i]);
    token += one.ids.size();
    const VerifyResult alone = verify(pair.folder, *pair.floats, *pair.integers, one);
    EXPECT_EQ(alone.cosine_min, together.cosines[i]) << i;
  }
}

TEST(Verify, ClassifierCountsAgreementAndLabels) {
  ModelOptions options;
  options.labels = 4;
  Pair pair(options);
  const TokenBatch batch = some_ids(100);
  const VerifyResult unlabelled = verify(pair.folder, *pair.floats, *pair.integers, batch);
  EXPECT_EQ(unlabelled.compared, Compared::kLogits);
  EXPECT_FALSE(unlabelled.accuracy_float);
  EXPECT_GT(unlabelled.agreement, 0.9);

  // The float model's own answers as the right ones.
  VerifyOptions verify_options;
  verify_options.worst = 100;
  const VerifyResult all = verify(pair.folder, *pair.floats, *pair.integers, batch, verify_options);
  std::vector<std::int32_t> labels(100);
  for (const WorstText& text : all.worst) {
    labels[text.text] = text.float_label;
    EXPECT_EQ(text.margin > 0, text.float_label != text.int8_label);
  }
  verify_options.labels = labels;
  const VerifyResult labelled =
      verify(pair.folder, *pair.floats, *pair.integers, batch, verify_options);
  EXPECT_DOUBLE_EQ(*labelled.accuracy_float, 1.0);
  EXPECT_DOUBLE_EQ(*labelled.accuracy_int8, labelled.agreement);
}

TEST(Verify, PoolsAsTheFolderSays) {
  using Values = std::vector<double>;
  const std::vector<float> hidden = {1, 5, 3, 1, 9, -2};  // texts of 2 and 1 tokens, 2 channels
  const std::vector<std::int32_t> lengths = {2, 1};
  PoolingConfig pooling;
  const auto pooled = [&](std::vector<PoolingKind> kinds) {
    pooling.kinds = std::move(kinds);
    return pool_float(pooling, 2, hidden, lengths).values;
  };
  EXPECT_EQ(pooled({PoolingKind::kMean}), (Values{2, 3, 9, -2}));
  EXPECT_EQ(pooled({PoolingKind::kCls}), (Values{1, 5, 9, -2}));
  EXPECT_EQ(pooled({PoolingKind::kMax}), (Values{3, 5, 9, -2}));
  EXPECT_EQ(pooled({PoolingKind::kLastToken, PoolingKind::kCls}),
            (Values{3, 1, 1, 5, 9, -2, 9, -2}));
}

TEST(Verify, CertificateIsTheSameForAnyThreadsAndKernels) {
  ModelOptions options;
  options.tokenizer = true;
  Pair pair(options);
  const nlohmann::ordered_json json = certificate_json(
      certify(pair.folder, *pair.floats, pair.blob, {.isa_mask = 0, .threads = 1}, {}));
  const IntegerModel::Options fast{.isa_mask = embert_isa_detect(), .threads = 2};
  EXPECT_EQ(certificate_json(certify(pair.folder, *pair.floats, pair.blob, fast, {})), json);
  EXPECT_EQ(json.at("compared"), "embeddings");
  EXPECT_EQ(json.at("texts"), 64);
  EXPECT_GE(json.at("cosine_mean").get<double>(), json.at("cosine_min").get<double>());
}

TEST(Verify, BlobOfAnotherModelIsRefused) {
  Pair pair(ModelOptions{});
  const auto refusal = [&](const ModelOptions& options, const char* expected) {
    TempFolder temp;
    test::write_model_folder(temp.path(), options);
    const ModelFolder folder = read_model_folder(temp.path());
    FloatModel floats(folder.config, folder.weights, 1);
    try {
      verify(folder, floats, *pair.integers, some_ids(3));
      FAIL() << expected;
    } catch (const ConvertError& error) {
      EXPECT_EQ(error.what(), std::string("the blob is not of this folder: expected ") + expected);
    }
  };
  ModelOptions layers, vocab, positions, labels;
  layers.layers = 1;
  vocab.vocab = 90;
  positions.positions = 20;
  labels.labels = 3;
  refusal(layers, "num_hidden_layers 1 as in config.json, found 2");
  refusal(vocab, "vocab_size 90 as in config.json, found 96");
  refusal(positions, "max_position_embeddings 20 as in config.json, found 32");
  refusal(labels, "labels 3 as in config.json, found 0");
  EXPECT_THROW(verify(pair.folder, *pair.floats, *pair.integers, {}), ConvertError);
}

TEST(Verify, ValuesThatAreNotFiniteAreRefused) {
  Pair pair(ModelOptions{});
  StackWeights& weights = pair.folder.weights.stacks[0];
  for (Matrix* table : {&weights.word_embeddings, &weights.position_embeddings}) {
    std::ranges::fill(table->data, 3e38F);
  }
  FloatModel floats(pair.folder.config, pair.folder.weights, 1);
  try {
    verify(pair.folder, floats, *pair.integers, some_ids(150));
    FAIL();
  } catch (const ConvertError& error) {
    EXPECT_EQ(
        error.what(),
        std::string("model.safetensors: the float32 model gives values that are not finite; "
                    "its weights are too large or damaged: compare the file with its source"));
  }
}

TEST(IntegerModel, BrokenBlobIsRefusedWithItsStatus) {
  Pair pair(ModelOptions{});
  pair.blob[200] ^= 1;
  try {
    IntegerModel model(pair.blob, {});
    FAIL();
  } catch (const ConvertError& error) {
    EXPECT_NE(std::string_view(error.what()).find("EMBERT_STATUS_BLOB"), std::string_view::npos);
  }
}

}  // namespace
}  // namespace embert::convert
