// SPDX-License-Identifier: Apache-2.0
// The files of sentence-transformers: the values that are read, and every error with its exact
// message.
#include <gtest/gtest.h>

#include "converter/import/config/read_pooling.hpp"
#include "tests/support/error_text.hpp"
#include "tests/support/model_folder.hpp"

namespace embert::convert {
namespace {

using test::error_text;

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
  EXPECT_EQ(pooling.kind, PoolingKind::kMean);
  EXPECT_TRUE(pooling.normalize);
  EXPECT_EQ(pooling.transformer_folder, "");
  EXPECT_FALSE(pooling.max_seq_length.has_value());
}

TEST_F(Pooling, Modules) {
  modules(module("Transformer", "") + "," + module("Pooling", "1_Pooling"));
  mode("\"pooling_mode_cls_token\": true, \"pooling_mode_mean_tokens\": false");
  folder_.write("sentence_bert_config.json", R"({"max_seq_length": 256, "do_lower_case": true})");
  PoolingConfig pooling = read_pooling(folder_.path());
  EXPECT_EQ(pooling.kind, PoolingKind::kCls);
  EXPECT_FALSE(pooling.normalize);
  EXPECT_EQ(pooling.vector_size, 32);
  EXPECT_EQ(pooling.max_seq_length, 256);

  modules(module("Transformer", "0_Transformer") + "," + module("Pooling", "1_Pooling") + "," +
          module("Normalize", "2_Normalize"));
  mode("\"pooling_mode_max_tokens\": true");
  folder_.write("0_Transformer/sentence_bert_config.json", R"({"max_seq_length": 64})");
  pooling = read_pooling(folder_.path());
  EXPECT_EQ(pooling.kind, PoolingKind::kMax);
  EXPECT_TRUE(pooling.normalize);
  EXPECT_EQ(pooling.transformer_folder, "0_Transformer");
  EXPECT_EQ(pooling.max_seq_length, 64);
}

TEST_F(Pooling, ModesThatAreNotComputed) {
  modules(module("Transformer", "") + "," + module("Pooling", "1_Pooling"));
  for (const std::string key : {"pooling_mode_mean_sqrt_len_tokens",
                                "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"}) {
    mode("\"" + key + "\": true");
    EXPECT_EQ(error(),
              "1_Pooling/config.json: " + key + " is not supported; mean, cls and max pooling are");
  }
  mode("\"pooling_mode_cls_token\": true, \"pooling_mode_mean_tokens\": true");
  EXPECT_EQ(error(),
            "1_Pooling/config.json: pooling_mode_cls_token and pooling_mode_mean_tokens are both "
            "on; several "
            "poolings at once are not supported");
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
  for (const auto& [name, kind] :
       {std::pair(R"("mean")", PoolingKind::kMean), std::pair(R"("cls")", PoolingKind::kCls),
        std::pair(R"("max")", PoolingKind::kMax), std::pair(R"(["cls"])", PoolingKind::kCls)}) {
    write(name);
    const PoolingConfig pooling = read_pooling(folder_.path());
    EXPECT_EQ(pooling.kind, kind) << name;
    EXPECT_EQ(pooling.vector_size, 48);
  }
  write(R"("lasttoken")");
  EXPECT_EQ(error(),
            "1_Pooling/config.json: pooling_mode \"lasttoken\" is not supported; mean, cls and max "
            "pooling are");
  write(R"("mode")");
  EXPECT_EQ(error(),
            "1_Pooling/config.json: pooling_mode must be \"mean\", \"cls\" or \"max\", found "
            "\"mode\"");
  write("true");
  EXPECT_EQ(error(),
            "1_Pooling/config.json: pooling_mode must be \"mean\", \"cls\" or \"max\", found true");
  write(R"(["mean", "max"])");
  EXPECT_EQ(error(), "1_Pooling/config.json: pooling_mode has 2 modes; one is supported");
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
  mode("\"pooling_mode_mean_tokens\": true");
  modules(start + "," + module("Dense", "2_Dense"));
  EXPECT_EQ(error(),
            "modules.json: module 2 \"Dense\" is not supported; expected Transformer, Pooling and "
            "perhaps "
            "Normalize");
  modules(start + "," + module("Normalize", "") + "," + module("Normalize", ""));
  EXPECT_EQ(error(),
            "modules.json: module 3 \"Normalize\" is not supported; expected Transformer, Pooling "
            "and perhaps "
            "Normalize");
  modules(module("Transformer", ""));
  EXPECT_EQ(error(), "modules.json: no Pooling module after Transformer");
  modules(module("Transformer", "") + "," + module("Pooling", "../1_Pooling"));
  EXPECT_EQ(error(), "modules.json: module 1: path \"../1_Pooling\" leaves the model folder");
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
