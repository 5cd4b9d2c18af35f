// SPDX-License-Identifier: Apache-2.0
// Static embeddings: folders of model2vec and StaticEmbedding modules, from files to vectors, every
// error with its message, and hostile records. Against the wheels: tests/converter/static_oracle.py
#include "converter/import/read_static_embeddings.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <string_view>

#include "converter/convert.hpp"
#include "converter/verify/integer_model.hpp"
#include "embert/embert_run.h"
#include "tests/support/error_text.hpp"
#include "tests/support/model_folder.hpp"
#include "tests/support/synthetic_blob.hpp"

namespace embert::convert {
namespace {

using test::error_text;
using test::store_floats;
using test::StoredTensor;

constexpr const char* kVocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\n##s\ndog\n";
constexpr std::size_t kTokens = 9;

StoredTensor table(const std::string& name, std::size_t rows = kTokens) {
  std::vector<float> values;
  for (std::size_t i = 0; i < rows * 3; ++i) {
    values.push_back(static_cast<float>(static_cast<int>(i * 7 % 11) - 5));
  }
  return store_floats(name, {rows, 3}, values);
}

class StaticEmbeddings : public ::testing::Test {
 protected:
  StaticEmbeddings() {
    folder_.write("vocab.txt", kVocabulary);
    config("");
    weights({table("embeddings")});
  }
  void config(const std::string& more) {
    folder_.write("config.json", "{\"model_type\": \"model2vec\"" + more + "}");
  }
  void weights(const std::vector<StoredTensor>& tensors, const std::string& folder = "") {
    folder_.write(folder + "model.safetensors", test::safetensors_bytes(tensors));
  }
  ModelFolder read() { return read_model_folder(folder_.path()); }
  std::string error() {
    return error_text([&] { read(); });
  }
  std::vector<std::uint8_t> blob() { return converted().blob; }
  ConvertResult converted() { return convert({.folder = folder_.path()}); }
  /// Real values of the vectors of texts.
  std::vector<double> vectors(const std::vector<std::string_view>& texts) {
    const std::vector<std::uint8_t> bytes = blob();
    IntegerModel model(bytes, {});
    const TextVectors rows = model.embed(model.tokenize(texts));
    std::vector<double> values;
    for (const std::int32_t value : rows.values) values.push_back(value * rows.scale);
    return values;
  }
  static void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 0.03) << i;
  }

  test::TempFolder folder_;
};

TEST_F(StaticEmbeddings, WeightsAndMappingAreApplied) {
  weights({table("embeddings", 2),
           store_floats("weights", {9}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
           {"mapping", "I64", {9}, [] {
              std::string bytes;
              for (std::int64_t row : {0, 1, 0, 1, 0, 1, 0, 1, 0}) {
                bytes.append(reinterpret_cast<const char*>(&row), 8);
              }
              return bytes;
            }()}});
  const ModelFolder folder = read();
  const Matrix& rows = folder.weights.stacks[0].word_embeddings;
  ASSERT_EQ(rows.rows, kTokens);
  EXPECT_EQ(std::vector<float>(rows.row(5), rows.row(6)),
            (std::vector<float>{5 * 6, 1 * 6, -3 * 6}));
  EXPECT_EQ(std::vector<float>(rows.row(1), rows.row(2)), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(folder.config.last().dropped_token, 1);
  EXPECT_FALSE(folder.pooling.normalize);
  EXPECT_EQ(folder.pooling.max_seq_length, 512);
}

TEST_F(StaticEmbeddings, AVectorIsTheMeanOfItsTokens) {
  const Matrix rows = read().weights.stacks[0].word_embeddings;
  const auto mean = [&](std::vector<std::size_t> ids) {
    std::vector<double> values(3);
    for (std::size_t c = 0; c < 3; ++c) {
      for (const std::size_t id : ids) values[c] += static_cast<double>(rows.row(id)[c]);
      values[c] /= static_cast<double>(ids.size());
    }
    return values;
  };
  expect_near(vectors({"the cats"}), mean({5, 6, 7}));
  expect_near(vectors({"the bird cats dog"}), mean({5, 6, 7, 8}));
  EXPECT_EQ(vectors({"bird", "", "cat"}).size(), 9u);
  const std::vector<double> three = vectors({"bird", "", "cat"});
  EXPECT_EQ(std::vector<double>(three.begin(), three.begin() + 6), std::vector<double>(6));
  expect_near({three.begin() + 6, three.end()}, mean({6}));

  config(", \"normalize\": true");
  std::vector<double> unit = mean({5, 8});
  const double length = std::sqrt(unit[0] * unit[0] + unit[1] * unit[1] + unit[2] * unit[2]);
  for (double& value : unit) value /= length;
  expect_near(vectors({"the dog"}), unit);
  EXPECT_EQ(vectors({"bird"}), std::vector<double>(3));
}

TEST_F(StaticEmbeddings, ModulesOfSentenceTransformers) {
  std::filesystem::remove(folder_.path() / "config.json");
  folder_.write("0_StaticEmbedding/vocab.txt", kVocabulary);
  weights({table("embedding.weight", 12)}, "0_StaticEmbedding/");
  const std::string type = "\"type\": \"sentence_transformers.models.";
  folder_.write("modules.json", "[{" + type +
                                    "StaticEmbedding\", \"path\": \"0_StaticEmbedding\"},{" + type +
                                    "Normalize\", \"path\": \"\"}]");
  const ModelFolder folder = read();
  EXPECT_TRUE(folder.pooling.normalize);
  EXPECT_EQ(folder.config.last().dropped_token, -1);
  EXPECT_EQ(folder.config.last().vocab_size, 12);
  EXPECT_EQ(folder.warnings,
            (std::vector<std::string>{
                "texts are cut at 512 tokens; StaticEmbedding has no limit of its own"}));
  EXPECT_NE(vectors({"bird"}), std::vector<double>(3));  // [UNK] counts
  weights({table("embedding.weight", 8)}, "0_StaticEmbedding/");
  EXPECT_EQ(error(),
            "model.safetensors: tensor \"embedding.weight\" has 8 rows, but tokenizer.json has 9 "
            "tokens");
}

TEST_F(StaticEmbeddings, BadFolders) {
  weights({table("embeddings", 8)});
  EXPECT_EQ(error(),
            "model.safetensors: tensor \"embeddings\" has 8 rows, but tokenizer.json has 9 tokens");
  weights({store_floats("embeddings", {27}, std::vector<float>(27))});
  EXPECT_EQ(error(),
            "model.safetensors: tensor \"embeddings\" [tokens, values] is missing; found [27]");
  weights({table("other")});
  EXPECT_EQ(error(), "model.safetensors: tensor \"embeddings\" [tokens, values] is missing");
  std::vector<float> values(27);
  values[4] = NAN;
  weights({store_floats("embeddings", {9, 3}, values)});
  EXPECT_EQ(error(),
            "model.safetensors: tensor \"embeddings\" holds nan at index 4; embeddings must be "
            "finite");
  weights({store_floats("embeddings", {1, 4097}, std::vector<float>(4097))});
  EXPECT_EQ(error(),
            "model.safetensors: tensor \"embeddings\" [1, 4097]; at most [1048576, 4096] is "
            "supported");
  weights({table("embeddings"), store_floats("weights", {8}, std::vector<float>(8))});
  EXPECT_EQ(error(),
            "model.safetensors: tensor \"weights\" must have shape [9], a value for each token, "
            "found [8]");
  weights({table("embeddings"), store_floats("weights", {9}, std::vector<float>(9, INFINITY))});
  EXPECT_EQ(error(),
            "model.safetensors: tensor \"weights\" holds inf at index 0; weights must be finite");
  for (const float row : {-1.0f, 9.0f, 0.5f}) {
    weights({table("embeddings"), store_floats("mapping", {9}, std::vector<float>(9, row))});
    EXPECT_EQ(error(), "model.safetensors: tensor \"mapping\" holds " + std::to_string(row) +
                           " at index 0; expected rows of embeddings, 0 to 8");
  }
  std::string words = kVocabulary;
  for (std::size_t i = kTokens; i < 262145; ++i) words += "w" + std::to_string(i) + "\n";
  folder_.write("vocab.txt", words);
  weights({store_floats("embeddings", {1, 4096}, std::vector<float>(4096)),
           store_floats("mapping", {262145}, std::vector<float>(262145))});
  EXPECT_EQ(error(),
            "model.safetensors: tensor \"mapping\" gives each of 262145 tokens a row of 4096 "
            "values; at most 1073741824 values are supported");
  folder_.write("vocab.txt", kVocabulary);
  weights({table("embeddings")});
  config(", \"max_length\": 0");
  EXPECT_EQ(error(),
            "config.json: \"max_length\" must be a whole number from 1 to 1073741824, found 0");
  config(", \"max_length\": null");
  EXPECT_EQ(
      read().warnings,
      (std::vector<std::string>{"texts are cut at 512 tokens; config.json says max_length null"}));
  config("");
  std::filesystem::remove(folder_.path() / "vocab.txt");
  EXPECT_EQ(error(), "tokenizer.json: file not found; static embeddings need it");
}

TEST_F(StaticEmbeddings, WhatNeedsLayersIsRefused) {
  const std::vector<std::uint8_t> bytes = blob();
  const test::AlignedBytes aligned(bytes);
  embert_model model;
  ASSERT_EQ(embert_model_open(aligned.data(), aligned.size(), EMBERT_ISA_SCALAR, &model),
            EMBERT_STATUS_OK);
  embert_options options = embert_options_default(&model);
  std::size_t needed = 0;
  ASSERT_EQ(embert_arena_bytes(&model, &options, &needed), EMBERT_STATUS_OK);
  EXPECT_EQ(needed, 1024u + 512 * 8 + 3 * 64);  // engine, ids and segments, sum, row, self-test
  test::AlignedBytes arena(needed);
  embert_engine* engine = nullptr;
  ASSERT_EQ(embert_engine_init(&model, &options, arena.data(), arena.size(), &engine),
            EMBERT_STATUS_OK);
  std::uint32_t checksum = 0;
  EXPECT_EQ(embert_selftest(engine, &checksum), EMBERT_STATUS_OK);
  const std::int32_t ids[] = {5, 6};
  const std::uint32_t length = 2;
  embert_input input = {.size = sizeof(input), .ids = ids, .lengths = &length, .batch = 1};
  std::int16_t vector[3];
  std::int32_t logits[3];
  const std::int16_t* hidden = nullptr;
  embert_output output = {.size = sizeof(output)};
  EXPECT_EQ(embert_run(engine, &input, &output), EMBERT_STATUS_NO_ENCODER);
  EXPECT_EQ(embert_last_hidden_state(engine, &input, &hidden, nullptr), EMBERT_STATUS_NO_ENCODER);
  EXPECT_EQ(embert_pooler_output(engine, &input, vector, nullptr), EMBERT_STATUS_NO_ENCODER);
  EXPECT_EQ(embert_classify(engine, &input, logits, nullptr), EMBERT_STATUS_NO_ENCODER);
  const auto embed = [&](embert_pooling pooling) {
    return embert_embed(engine, &input, pooling, vector, nullptr);
  };
  EXPECT_EQ(embed(EMBERT_POOLING_MODEL), EMBERT_STATUS_OK);
  EXPECT_EQ(embed(EMBERT_POOLING_MEAN), EMBERT_STATUS_OK);
  EXPECT_EQ(embed(EMBERT_POOLING_CLS), EMBERT_STATUS_INVALID_OPTION);
  const std::uint8_t mask[] = {1, 0};
  input.key_mask = mask;
  EXPECT_EQ(embed(EMBERT_POOLING_MODEL), EMBERT_STATUS_NO_ENCODER);
  input.key_mask = nullptr;
  input.position_ids = ids;
  EXPECT_EQ(embed(EMBERT_POOLING_MODEL), EMBERT_STATUS_NO_ENCODER);
  input.position_ids = nullptr;
  const std::int32_t outside[] = {5, 9};
  input.ids = outside;
  EXPECT_EQ(embed(EMBERT_POOLING_MODEL), EMBERT_STATUS_TOKEN_OUT_OF_RANGE);
  input.ids = nullptr;
  EXPECT_EQ(embed(EMBERT_POOLING_MODEL), EMBERT_STATUS_NULL_ARGUMENT);
  input.ids = ids;
  const std::int32_t types[] = {0, 1};
  input.type_ids = types;
  EXPECT_EQ(embed(EMBERT_POOLING_MODEL), EMBERT_STATUS_TYPE_OUT_OF_RANGE);
  input.type_ids = nullptr;
  input.batch = 2;
  EXPECT_EQ(embed(EMBERT_POOLING_MODEL), EMBERT_STATUS_TOO_MANY_TEXTS);
  input.batch = 0;
  EXPECT_EQ(embed(EMBERT_POOLING_MODEL), EMBERT_STATUS_EMPTY_INPUT);
  input.batch = 1;
  const std::uint32_t longer = 513;
  input.lengths = &longer;
  EXPECT_EQ(embed(EMBERT_POOLING_MODEL), EMBERT_STATUS_TOO_MANY_TOKENS);
}

TEST_F(StaticEmbeddings, HostileRecords) {
  const std::vector<std::uint8_t> good = blob();
  const auto status = [&](const std::function<void(BlobHeader&, BlobStatic&)>& change) {
    test::AlignedBytes bytes(good);
    auto& header = *reinterpret_cast<BlobHeader*>(bytes.data());
    const auto* table = reinterpret_cast<const BlobSection*>(bytes.data() + sizeof(BlobHeader));
    const BlobSection* section = table;
    while (section->kind != kSectionStatic) ++section;
    change(header, *reinterpret_cast<BlobStatic*>(bytes.data() + section->offset));
    test::seal_blob(bytes.data(), bytes.size());
    embert_model model;
    return embert_model_open(bytes.data(), bytes.size(), EMBERT_ISA_SCALAR, &model);
  };
  EXPECT_EQ(status([](BlobHeader&, BlobStatic&) {}), EMBERT_STATUS_OK);
  EXPECT_EQ(status([](BlobHeader&, BlobStatic& s) { s.dropped_id = UINT32_MAX; }),
            EMBERT_STATUS_OK);
  EXPECT_EQ(status([](BlobHeader&, BlobStatic& s) { s.dropped_id = 9; }), EMBERT_STATUS_BLOB_VALUE);
  EXPECT_EQ(status([](BlobHeader&, BlobStatic& s) { s.reserved[2] = 1; }),
            EMBERT_STATUS_BLOB_VALUE);
  const std::function<void(BlobHeader&, BlobStatic&)> kBad[] = {
      [](BlobHeader& h, BlobStatic&) { h.stacks[0].flags = 0; },
      [](BlobHeader& h, BlobStatic&) { h.stacks[0].flags |= kStackCausal; },
      [](BlobHeader& h, BlobStatic&) { h.stacks[0].num_heads = 1; },
      [](BlobHeader& h, BlobStatic&) { h.stacks[0].head_size = 1; },
      [](BlobHeader& h, BlobStatic&) { h.stacks[0].num_layers = 1; },
      [](BlobHeader& h, BlobStatic&) { h.stacks[0].intermediate_size = 1; },
      [](BlobHeader& h, BlobStatic&) { h.stacks[0].type_vocab_size = 2; },
      [](BlobHeader& h, BlobStatic&) { h.stacks[0].max_positions = 513; },
      [](BlobHeader& h, BlobStatic&) { h.stacks[0].max_positions = 0; },
      [](BlobHeader& h, BlobStatic&) { h.stacks[0].hidden_scale = 0x3F800000; },
      [](BlobHeader& h, BlobStatic&) { h.stacks[0].final_norm.shift = 8; },
      [](BlobHeader& h, BlobStatic&) { h.stacks[0].activation = 1; },
      [](BlobHeader& h, BlobStatic&) { h.stacks[0].sum_scale = 1; },
      [](BlobHeader& h, BlobStatic&) { h.task_heads = kHeadPooler; }};
  for (std::size_t i = 0; i < std::size(kBad); ++i) {
    EXPECT_EQ(status(kBad[i]), EMBERT_STATUS_BLOB_HEADER) << i;
  }
}

}  // namespace
}  // namespace embert::convert
