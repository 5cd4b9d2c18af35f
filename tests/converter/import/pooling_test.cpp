// SPDX-License-Identifier: Apache-2.0
// The files of sentence-transformers: the values that are read, and every error with its exact
// message.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "converter/import/config/read_pooling.hpp"
#include "tests/support/error_text.hpp"
#include "tests/support/model_folder.hpp"

namespace embert::convert {
namespace {

using test::error_text;
using Kinds = std::vector<PoolingKind>;

class Pooling : public ::testing::Test {
 protected:
  static std::string module(const std::string& kind, const std::string& path) {
    return R"({"idx": 0, "name": "0", "path": ")" + path +
           R"(", "type": "sentence_transformers.models.)" + kind + "\"}";
  }
  void modules(const std::string& list) { folder_.write("modules.json", "[" + list + "]"); }
  void mode(const std::string& keys) {
    folder_.write("1_Pooling/config.json", "{\"word_embedding_dimension\": 32, " + keys + "}");
  }
  std::string error() {
    return error_text([&] { read_pooling(folder_.path()); });
  }

  test::TempFolder folder_;
};

TEST_F(Pooling, WithoutFilesItIsMeanAndNormalize) {
  const PoolingConfig pooling = read_pooling(folder_.path());
  EXPECT_EQ(pooling.kinds, Kinds{PoolingKind::kMean});
  EXPECT_TRUE(pooling.normalize);
  EXPECT_EQ(pooling.transformer_folder, "");
  EXPECT_FALSE(pooling.max_seq_length.has_value());
}

TEST_F(Pooling, Modules) {
  modules(module("Transformer", "") + "," + module("Pooling", "1_Pooling"));
  mode("\"pooling_mode_cls_token\": true, \"pooling_mode_mean_tokens\": false");
  folder_.write("sentence_bert_config.json", R"({"max_seq_length": 256, "do_lower_case": true})");
  PoolingConfig pooling = read_pooling(folder_.path());
  EXPECT_EQ(pooling.kinds, Kinds{PoolingKind::kCls});
  EXPECT_FALSE(pooling.normalize);
  EXPECT_EQ(pooling.pooled_size, 32);
  EXPECT_EQ(pooling.max_seq_length, 256);
  EXPECT_EQ(pooling.sequence_file, "sentence_bert_config.json");
  EXPECT_TRUE(pooling.lowercases_texts);

  modules(module("Transformer", "0_Transformer") + "," + module("Pooling", "1_Pooling") + "," +
          module("Normalize", "2_Normalize"));
  mode("\"pooling_mode_max_tokens\": true");
  folder_.write("0_Transformer/sentence_bert_config.json", R"({"max_seq_length": 64})");
  pooling = read_pooling(folder_.path());
  EXPECT_EQ(pooling.kinds, Kinds{PoolingKind::kMax});
  EXPECT_TRUE(pooling.normalize);
  EXPECT_EQ(pooling.transformer_folder, "0_Transformer");
  EXPECT_EQ(pooling.max_seq_length, 64);
  EXPECT_FALSE(pooling.lowercases_texts);
  // The name that old versions of sentence-transformers gave the file.
  std::filesystem::remove(folder_.path() / "0_Transformer/sentence_bert_config.json");
  folder_.write("0_Transformer/sentence_xlm-roberta_config.json", R"({"max_seq_length": 65})");
  pooling = read_pooling(folder_.path());
  EXPECT_EQ(pooling.max_seq_length, 65);
  EXPECT_EQ(pooling.sequence_file, "0_Transformer/sentence_xlm-roberta_config.json");
}

TEST_F(Pooling, ModesByKeys) {
  modules(module("Transformer", "") + "," + module("Pooling", "1_Pooling"));
  mode(R"("pooling_mode_lasttoken": true, "pooling_mode_mean_sqrt_len_tokens": true,
          "pooling_mode_weightedmean_tokens": true, "pooling_mode_cls_token": false)");
  EXPECT_EQ(
      read_pooling(folder_.path()).kinds,
      (Kinds{PoolingKind::kMeanSqrtLength, PoolingKind::kWeightedMean, PoolingKind::kLastToken}));
  mode(R"("pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": true,
          "pooling_mode_cls_token": true)");
  EXPECT_EQ(read_pooling(folder_.path()).kinds,
            (Kinds{PoolingKind::kCls, PoolingKind::kMax, PoolingKind::kMean}));
  mode("\"pooling_mode_cls_token\": false");
  EXPECT_EQ(
      error(),
      "1_Pooling/config.json: no pooling mode is on; expected one of pooling_mode_mean_tokens, "
      "pooling_mode_cls_token and pooling_mode_max_tokens");
  mode("\"pooling_mode_cls_token\": 1");
  EXPECT_EQ(error(),
            "1_Pooling/config.json: \"pooling_mode_cls_token\" must be true or false, found 1");
}

TEST_F(Pooling, ModesByName) {
  modules(module("Transformer", "") + "," + module("Pooling", "1_Pooling"));
  const auto write = [&](const std::string& value) {
    folder_.write(
        "1_Pooling/config.json",
        R"({"embedding_dimension": 48, "include_prompt": true, "pooling_mode": )" + value + "}");
  };
  for (const auto& [name, kinds] :
       {std::pair(R"("mean")", Kinds{PoolingKind::kMean}),
        std::pair(R"("cls")", Kinds{PoolingKind::kCls}),
        std::pair(R"("max")", Kinds{PoolingKind::kMax}),
        std::pair(R"("mean_sqrt_len_tokens")", Kinds{PoolingKind::kMeanSqrtLength}),
        std::pair(R"("weightedmean")", Kinds{PoolingKind::kWeightedMean}),
        std::pair(R"("lasttoken")", Kinds{PoolingKind::kLastToken}),
        std::pair(R"(["cls"])", Kinds{PoolingKind::kCls}),
        std::pair(R"(["mean", "cls"])", Kinds{PoolingKind::kMean, PoolingKind::kCls})}) {
    write(name);
    const PoolingConfig pooling = read_pooling(folder_.path());
    EXPECT_EQ(pooling.kinds, kinds) << name;
    EXPECT_EQ(pooling.pooled_size, 48);
  }
  const std::string one_of =
      "1_Pooling/config.json: pooling_mode must be one of cls, max, mean, mean_sqrt_len_tokens, "
      "weightedmean, lasttoken, found ";
  write(R"("mode")");
  EXPECT_EQ(error(), one_of + "\"mode\"");
  write("true");
  EXPECT_EQ(error(), one_of + "true");
  write(R"(["mean", 3])");
  EXPECT_EQ(error(), one_of + "3");
  write("[]");
  EXPECT_EQ(error(), "1_Pooling/config.json: pooling_mode has 0 modes; expected 1 to 6");
  write(R"(["mean", "mean", "mean", "mean", "mean", "mean", "mean"])");
  EXPECT_EQ(error(), "1_Pooling/config.json: pooling_mode has 7 modes; expected 1 to 6");
}

TEST_F(Pooling, PromptsOutsideThePooling) {
  modules(module("Transformer", "") + "," + module("Pooling", "1_Pooling"));
  mode(R"("pooling_mode_mean_tokens": true, "include_prompt": true)");
  EXPECT_EQ(error(), "no error");
  mode(R"("pooling_mode_mean_tokens": true, "include_prompt": false)");
  EXPECT_EQ(error(),
            "1_Pooling/config.json: include_prompt false is not supported; with true the tokens of "
            "a prompt count in the vector, and vectors without prompt stay the same");
  mode(R"("pooling_mode_cls_token": true, "include_prompt": false)");  // the first token is [CLS]
  EXPECT_EQ(error(), "no error");
  mode(R"("pooling_mode_cls_token": true, "include_prompt": "no")");
  EXPECT_EQ(error(),
            "1_Pooling/config.json: \"include_prompt\" must be true or false, found \"no\"");
}

TEST_F(Pooling, WrongModules) {
  const std::string start = module("Transformer", "") + "," + module("Pooling", "1_Pooling");
  const std::string expected =
      "\" is not supported; expected Transformer, Pooling, then perhaps Dense and Normalize";
  mode("\"pooling_mode_mean_tokens\": true");
  modules(start + "," + module("LayerNorm", "2_LayerNorm"));
  EXPECT_EQ(error(), "modules.json: module 2 \"LayerNorm" + expected);
  modules(start + "," + module("Normalize", "") + "," + module("Normalize", ""));
  EXPECT_EQ(error(), "modules.json: module 3 \"Normalize" + expected);
  modules(module("Transformer", "") + "," + module("LSTM", "1_LSTM"));
  EXPECT_EQ(error(), "modules.json: module 1 \"LSTM" + expected);
  modules(module("CLIPModel", "") + "," + module("Pooling", "1_Pooling"));
  EXPECT_EQ(error(), "modules.json: module 0 \"CLIPModel" + expected);
  modules(module("Transformer", ""));
  EXPECT_EQ(error(), "modules.json: no Pooling module after Transformer");
  modules(module("Transformer", "") + "," + module("Pooling", "../1_Pooling"));
  EXPECT_EQ(error(), "modules.json: module 1: path \"../1_Pooling\" leaves the model folder");
  modules(module("Transformer", "") + "," + module("Pooling", "1_\\nPooling"));
  EXPECT_EQ(error(),
            "modules.json: module 1: path \"1_?Pooling\" is too long or holds control characters");
  modules(module("Transformer", "") + "," + module("Pooling", "3_Pooling"));
  EXPECT_EQ(error(), "3_Pooling/config.json: file not found");
  modules("3");
  EXPECT_EQ(error(), "modules.json: module 0: expected a JSON object, found 3");
  folder_.write("modules.json", "{}");
  EXPECT_EQ(error(), "modules.json: expected an array of modules, found an object");
  folder_.write("modules.json", "[" + start + "]");
  folder_.write("sentence_bert_config.json", R"({"max_seq_length": 0})");
  EXPECT_EQ(error(),
            "sentence_bert_config.json: \"max_seq_length\" must be a whole number from 1 to "
            "1048576, found 0");
}

}  // namespace
}  // namespace embert::convert
