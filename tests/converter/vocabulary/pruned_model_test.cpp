// SPDX-License-Identifier: Apache-2.0
// convert() with a pruned vocabulary: texts and ids of kept tokens give the values of the whole
// model, bit by bit, with each table that ids index; the certificate; refusals.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "converter/convert.hpp"
#include "converter/reference/float_model.hpp"
#include "converter/verify/integer_model.hpp"
#include "converter/verify/verify.hpp"
#include "converter/vocabulary/prune_vocabulary.hpp"
#include "embert/embert_lm.h"
#include "embert/embert_tokenizer.h"
#include "tests/support/error_text.hpp"
#include "tests/support/model_folder.hpp"

namespace embert::convert {
namespace {

using Json = nlohmann::json;
using test::error_text;
using test::StoredTensor;

class PrunedModel : public ::testing::Test {
 protected:
  PrunedModel() {
    options_.folder = folder_.path();
    options_.rounding = Rounding::kNearest;
  }
  static test::ModelOptions model_options() {
    test::ModelOptions options;
    options.tokenizer = true;
    options.vocab = 100;  // the last ones are [unused0] ...
    return options;
  }
  void write(const test::ModelOptions& options = model_options()) {
    test::write_model_folder(folder_.path(), options);
  }
  // The tokens of "play the weather", of its script and digits and punctuation stay.
  void keep_texts(const std::string& texts = "play the weather\n\n") {
    options_.vocabulary.texts = folder_.write("corpus", texts);
  }
  std::string error() {
    return error_text([&] { convert(options_); });
  }
  std::vector<std::uint8_t> blob(bool prune) {
    ConvertOptions options = options_;
    if (!prune) options.vocabulary = {};
    return convert(options).blob;
  }

  test::TempFolder folder_;
  ConvertOptions options_;
};

std::vector<std::string> tokens_of(const IntegerModel& model) {
  std::vector<std::string> tokens;
  for (std::uint32_t id = 0; id < model.info().vocab_size; ++id) {
    const char* string = nullptr;
    std::size_t bytes = 0;
    if (embert_token(&model.model(), id, &string, &bytes) != EMBERT_STATUS_OK) break;
    tokens.emplace_back(string, bytes);
  }
  return tokens;
}

TEST_F(PrunedModel, VectorsOfKeptTokensAreThoseOfTheWholeModel) {
  write();
  keep_texts();
  for (const EmbeddingBits bits : {EmbeddingBits::k8, EmbeddingBits::k4}) {
    options_.embeddings = bits;
    const std::vector<std::uint8_t> whole_blob = blob(false), pruned_blob = blob(true);
    IntegerModel whole(whole_blob, {}), pruned(pruned_blob, {});
    EXPECT_EQ(whole.info().vocab_size, 100u);
    // 5 special tokens, 10 digits, 26 letters and 26 in words, 6 marks, and three words.
    EXPECT_EQ(pruned.info().vocab_size, 5u + 10 + 26 + 26 + 6 + 3);
    EXPECT_LT(pruned_blob.size(), whole_blob.size());
    const std::vector<std::string_view> same = {"play the weather", "the x9!", "weather, playd"};
    EXPECT_EQ(whole.embed(whole.tokenize(same)).values, pruned.embed(pruned.tokenize(same)).values);
    EXPECT_EQ(whole.last_hidden_state(whole.tokenize(same)).values,
              pruned.last_hidden_state(pruned.tokenize(same)).values);
    const std::vector<std::string_view> other = {"my time"};
    EXPECT_EQ(whole.tokenize(other).lengths[0], 4);
    EXPECT_EQ(pruned.tokenize(other).lengths[0], 2 + 2 + 4);
  }
}

TEST_F(PrunedModel, LogitsOfKeptTokensAreThoseOfTheWholeModel) {
  for (const bool tied : {true, false}) {
    test::ModelOptions options = model_options();
    options.bert_prefix = true;
    test::ModelContent content = test::make_model(options);
    content.config["architectures"] = Json::array({"BertForMaskedLM"});
    content.config["tie_word_embeddings"] = tied;
    const auto add = [&](const std::string& name, const std::vector<std::uint64_t>& shape) {
      std::vector<float> values(
          std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>()));
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = 0.05F * static_cast<float>(static_cast<int>(i * 37 % 23) - 11);
      }
      content.tensors.push_back(test::store_floats("cls.predictions." + name, shape, values));
    };
    add("transform.dense.weight", {32, 32});
    add("transform.dense.bias", {32});
    add("transform.LayerNorm.weight", {32});
    add("transform.LayerNorm.bias", {32});
    add("bias", {100});
    if (!tied) add("decoder.weight", {100, 32});
    write();
    test::write_model(folder_.path(), content);
    keep_texts();
    const std::vector<std::uint8_t> whole_blob = blob(false), pruned_blob = blob(true);
    IntegerModel whole(whole_blob, {}), pruned(pruned_blob, {});
    const std::vector<std::string_view> texts = {"play the [MASK]", "[MASK] weather"};
    const std::vector<std::size_t> asked = {3, 1};
    const TextVectors before = whole.lm_logits(whole.tokenize(texts), asked);
    const TextVectors after = pruned.lm_logits(pruned.tokenize(texts), asked);
    const std::vector<std::string> all = tokens_of(whole), kept = tokens_of(pruned);
    ASSERT_EQ(all.size(), before.width);
    ASSERT_EQ(kept.size(), after.width);
    const ModelFolder folder = read_model_folder(folder_.path());
    FloatModel floats(folder.config, folder.weights, 1);
    EXPECT_GT(verify(folder, floats, pruned, pruned.tokenize(texts)).cosine_min, 0.99);
    for (std::size_t text = 0; text < texts.size(); ++text) {
      for (std::size_t id = 0; id < kept.size(); ++id) {
        const auto old_id = std::find(all.begin(), all.end(), kept[id]) - all.begin();
        EXPECT_EQ(after.row(text)[id], before.row(text)[static_cast<std::size_t>(old_id)])
            << kept[id];
      }
    }
    // A folder whose tokenizer has a kept token behind the rows is another model's.
    std::vector<std::string> lines = all;
    *std::ranges::find(lines, "0") = "[moved]";
    lines.emplace_back("0");
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    folder_.write("vocab.txt", text);
    const std::string error =
        test::error_text([&] { verify(folder, floats, pruned, pruned.tokenize(texts)); });
    EXPECT_NE(error.find("vocab"), std::string::npos) << error;
  }
}

TEST(PruneModel, IdsOfTheModelFollowAndOtherVocabulariesStay) {
  ModelConfig config;
  config.stacks.resize(2);
  config.stacks[0].vocab_size = 4;
  config.stacks[0].padding_position_id = 3;
  config.stacks[1].vocab_size = 2;
  config.pad_token_id = 3;
  config.eos_token_id = 1;
  EXPECT_EQ(ids_of_model(config), (std::vector<std::uint32_t>{3}));
  QuantizedModel model;
  model.stacks.resize(2);
  model.stacks[0].record.flags = kStackPaddingPosition;
  model.stacks[0].padding_id = 3;
  model.stacks[0].word_embeddings = {1, 1, 2, 2, 3, 3, 4, 4};
  model.stacks[0].word_multipliers = {1, 2, 3, 4};
  model.stacks[1].word_embeddings = {5, 6};
  model.stacks[1].word_multipliers = {5, 6};
  model.end_id = 1;
  prune_model(KeptIds({false, true, false, true}), model, config);
  EXPECT_EQ(model.stacks[0].word_embeddings, (std::vector<std::int8_t>{2, 2, 4, 4}));
  EXPECT_EQ(model.stacks[0].word_multipliers, (std::vector<std::int32_t>{2, 4}));
  EXPECT_EQ(model.stacks[0].record.vocab_size, 2u);
  EXPECT_EQ(model.stacks[0].padding_id, 1u);
  EXPECT_EQ(config.stacks[0].padding_position_id, 1);
  // The decoder generates ids of a vocabulary of its own.
  EXPECT_EQ(model.stacks[1].word_embeddings, (std::vector<std::int8_t>{5, 6}));
  EXPECT_EQ(model.end_id, 1u);
}

TEST_F(PrunedModel, StaticEmbeddingsFollow) {
  folder_.write("vocab.txt", "zero\n[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\n##s\ndog\n");
  folder_.write("config.json", R"({"model_type": "model2vec"})");
  std::vector<float> values;
  for (int i = 0; i < 30; ++i) values.push_back(static_cast<float>(i * 7 % 11 - 5));
  folder_.write("model.safetensors",
                test::safetensors_bytes({test::store_floats("embeddings", {10, 3}, values)}));
  keep_texts("the cat\n");
  const std::vector<std::uint8_t> whole_blob = blob(false), pruned_blob = blob(true);
  IntegerModel whole(whole_blob, {}), pruned(pruned_blob, {});
  EXPECT_EQ(pruned.info().vocab_size, 5u + 2 + 1);  // "##s" is a single character
  // The unknown token does not count; its id has changed.
  const std::vector<std::string_view> same = {"the cat", "cat qqq the the", "qqq"};
  EXPECT_EQ(whole.embed(whole.tokenize(same)).values, pruned.embed(pruned.tokenize(same)).values);
}

TEST_F(PrunedModel, TheCertificateSaysWhatChanged) {
  write();
  keep_texts("play the weather\n");
  const ConvertResult result = convert(options_);
  const Json json = Json::parse(result.certificate)["vocabulary"];
  EXPECT_EQ(json["tokens"], 100);
  EXPECT_EQ(json["kept_tokens"], 76);
  EXPECT_GT(json["saved_bytes"], 24 * 32);
  EXPECT_EQ(json["texts"], 64);
  EXPECT_GT(json["changed_texts"], 0);
  EXPECT_GT(json["tokens_after"], json["tokens_before"]);
  EXPECT_LT(json["cosine_min"], 1);
  EXPECT_LE(json["cosine_min"], json["cosine_mean"]);
  options_.vocabulary = {.size = 100};
  const Json all = Json::parse(convert(options_).certificate)["vocabulary"];
  EXPECT_EQ(all["kept_tokens"], 100);
  EXPECT_EQ(all["changed_texts"], 0);
  EXPECT_EQ(all["saved_bytes"], 0);
  EXPECT_FALSE(all.contains("cosine_mean"));
}

// Float32 gets the blob's tokens, so nothing but the arithmetic differs.
TEST_F(PrunedModel, VerifyFindsTheTokensInTheFolder) {
  write();
  keep_texts();
  const std::vector<std::uint8_t> pruned_blob = blob(true);
  const ModelFolder folder = read_model_folder(folder_.path());
  FloatModel floats(folder.config, folder.weights, 1);
  IntegerModel pruned(pruned_blob, {});
  const std::vector<std::string_view> texts = {"play the weather", "my time, what?"};
  const auto compare = [&] {
    return verify(folder, floats, pruned, batch_of_texts(folder.config, pruned, texts));
  };
  EXPECT_GT(compare().cosine_min, 0.999);
  std::string vocabulary;
  for (const std::string& token : tokens_of(pruned))
    vocabulary += token == "the" ? "" : token + "\n";
  folder_.write("vocab.txt", vocabulary);
  EXPECT_EQ(error_text([&] { compare(); }),
            "the blob is not of this folder: expected vocab_size 100 as in config.json, found 76");
}

// "is" begins a prompt only.
TEST_F(PrunedModel, TokensOfPromptsStay) {
  write();
  folder_.write("config_sentence_transformers.json", R"({"prompts": {"query": "is it: "}})");
  keep_texts("play\n");
  const std::vector<std::uint8_t> pruned = blob(true);
  const std::vector<std::string> tokens = tokens_of(IntegerModel(pruned, {}));
  for (const char* token : {"is", "it", "play"}) {
    EXPECT_NE(std::find(tokens.begin(), tokens.end(), token), tokens.end()) << token;
  }
  EXPECT_EQ(std::find(tokens.begin(), tokens.end(), "the"), tokens.end());
}

// The whole line counts, also behind the place where the model would cut it.
TEST_F(PrunedModel, TheEndOfALongLineCounts) {
  write();
  std::string line;
  for (int i = 0; i < 3000; ++i) line += "x ";
  keep_texts(line + "weather\n");
  const std::vector<std::uint8_t> pruned = blob(true);
  const std::vector<std::string> tokens = tokens_of(IntegerModel(pruned, {}));
  EXPECT_NE(std::find(tokens.begin(), tokens.end(), "weather"), tokens.end());
}

TEST_F(PrunedModel, Refusals) {
  write();
  options_.certify = false;
  options_.vocabulary = {.scripts = {"Latn"}};
  EXPECT_EQ(error().find("--scripts: \"Latn\" is no script of Unicode; there are Adlam, "), 0u);
  options_.vocabulary = {.size = 10};
  EXPECT_EQ(error().find("--vocabulary-size 10: at least 73 tokens must stay"), 0u) << error();
  const std::string path = folder_.path() / "corpus";
  options_.vocabulary = {.texts = path};
  EXPECT_EQ(error(), path + ": cannot be opened: No such file or directory");
  keep_texts(" \n\n");
  EXPECT_EQ(error(), path + ": no text; one a line is needed");
  std::filesystem::remove(folder_.path() / "vocab.txt");
  std::filesystem::remove(folder_.path() / "tokenizer_config.json");
  keep_texts();
  EXPECT_EQ(error(),
            "--keep-vocabulary, --scripts and --vocabulary-size need a tokenizer, and the folder "
            "has none");
}

}  // namespace
}  // namespace embert::convert
