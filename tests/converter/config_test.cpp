// SPDX-License-Identifier: Apache-2.0
// config.json and the files of sentence-transformers: what is read, and every refusal with its
// exact message.
#include <gtest/gtest.h>

#include "converter/read_config.hpp"
#include "converter/read_pooling.hpp"
#include "tests/support/error_text.hpp"
#include "tests/support/model_folder.hpp"

namespace embert::convert {
namespace {

using nlohmann::json;
using test::error_text;

class Config : public ::testing::Test {
 protected:
  // Reads the standard config with `change` merged into it; null removes a key.
  ModelConfig read_model(const char* change) {
    json config = test::make_model().config;
    config.merge_patch(json::parse(change));
    folder_.write("config.json", config.dump());
    warnings_.clear();
    return read_config(folder_.path(), warnings_);
  }
  BertConfig read(const char* change) { return read_model(change).first(); }
  std::string error(const char* change) {
    return error_text([&] { read(change); });
  }

  test::TempFolder folder_;
  std::vector<std::string> warnings_;
};

TEST_F(Config, Numbers) {
  const ModelConfig model = read_model("{}");
  const BertConfig& config = model.first();
  EXPECT_EQ(config.hidden_size, 32);
  EXPECT_EQ(config.num_hidden_layers, 2);
  EXPECT_EQ(config.num_attention_heads, 2);
  EXPECT_EQ(config.head_size(), 16);
  EXPECT_EQ(config.intermediate_size, 64);
  EXPECT_EQ(config.vocab_size, 96);
  EXPECT_EQ(config.max_position_embeddings, 32);
  EXPECT_EQ(config.type_vocab_size, 2);
  EXPECT_EQ(model.pad_token_id, 0);
  EXPECT_EQ(config.layer_norm_eps, 1e-12);
  EXPECT_EQ(model.classifier, ClassifierTask::kNone);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(Config, HiddenActs) {
  const std::pair<const char*, HiddenAct> names[] = {
      {"gelu", HiddenAct::kGelu},        {"gelu_python", HiddenAct::kGelu},
      {"gelu_new", HiddenAct::kGeluNew}, {"gelu_fast", HiddenAct::kGeluNew},
      {"relu", HiddenAct::kRelu},        {"gelu_pytorch_tanh", HiddenAct::kGeluNew},
      {"silu", HiddenAct::kSilu},        {"swish", HiddenAct::kSilu},
      {"tanh", HiddenAct::kTanh}};
  for (const auto& [name, act] : names) {
    EXPECT_EQ(read(("{\"hidden_act\": \"" + std::string(name) + "\"}").c_str()).hidden_act, act)
        << name;
  }
  EXPECT_STREQ(hidden_act_name(HiddenAct::kSilu), "silu");
  EXPECT_EQ(error(R"({"hidden_act": "quick_gelu"})"),
            "config.json: hidden_act \"quick_gelu\" is not supported; gelu, gelu_new, relu, silu "
            "and tanh are");
}

TEST_F(Config, UnsupportedMembersAndOptions) {
  for (const char* type :
       {"distilbert", "electra", "roberta", "mobilebert", "albert", "modernbert"}) {
    EXPECT_EQ(error(("{\"model_type\": \"" + std::string(type) + "\"}").c_str()),
              "config.json: model_type \"" + std::string(type) +
                  "\" is not supported; embert reads model_type \"bert\"");
  }
  EXPECT_EQ(error(R"({"position_embedding_type": "relative_key"})"),
            "config.json: position_embedding_type \"relative_key\" is not supported; only "
            "\"absolute\" is");
  EXPECT_EQ(
      error(R"({"position_embedding_type": "sinusoidal"})"),
      "config.json: position_embedding_type \"sinusoidal\" is not supported; only \"absolute\" is");
  EXPECT_EQ(error(R"({"norm_position": "pre"})"),
            "config.json: norm_position \"pre\" is not supported; only \"post\" is");
  EXPECT_EQ(error(R"({"is_decoder": true})"),
            "config.json: is_decoder true (a causal decoder) is not supported; embert converts "
            "plain encoders");
  EXPECT_EQ(error(R"({"add_cross_attention": true})"),
            "config.json: add_cross_attention true (cross-attention) is not supported; embert "
            "converts plain "
            "encoders");
  EXPECT_EQ(error(R"({"is_encoder_decoder": true})"),
            "config.json: is_encoder_decoder true (a decoder beside the encoder) is not supported; "
            "embert "
            "converts plain encoders");
  EXPECT_EQ(error(R"({"embedding_layer_norm": false})"),
            "config.json: embedding_layer_norm false (embeddings without LayerNorm) is not "
            "supported; embert "
            "converts plain encoders");
  EXPECT_EQ(
      error(R"({"pruned_heads": {"0": [1]}})"),
      "config.json: pruned_heads is not supported; embert converts encoders with all their heads");
  EXPECT_EQ(error(R"({"embedding_scale": 8.0})"),
            "config.json: embedding_scale 8.0 is not supported; only 1 is");
  EXPECT_EQ(error(R"({"pruned_heads": {}, "is_decoder": false, "chunk_size_feed_forward": 8})"),
            "no error");
}

TEST_F(Config, Ranges) {
  EXPECT_EQ(error(R"({"hidden_size": null})"), "config.json: \"hidden_size\" is missing");
  EXPECT_EQ(error(R"({"hidden_size": 4097})"),
            "config.json: \"hidden_size\" must be a whole number from 1 to 4096, found 4097");
  EXPECT_EQ(error(R"({"num_hidden_layers": 49})"),
            "config.json: \"num_hidden_layers\" must be a whole number from 1 to 48, found 49");
  EXPECT_EQ(error(R"({"intermediate_size": 4225})"),
            "config.json: \"intermediate_size\" must be a whole number from 1 to 4224, found 4225");
  EXPECT_EQ(error(R"({"vocab_size": 0})"),
            "config.json: \"vocab_size\" must be a whole number from 1 to 1048576, found 0");
  EXPECT_EQ(error(R"({"type_vocab_size": 0})"),
            "config.json: \"type_vocab_size\" must be a whole number from 1 to 16, found 0");
  EXPECT_EQ(error(R"({"type_vocab_size": 17})"),
            "config.json: \"type_vocab_size\" must be a whole number from 1 to 16, found 17");
  EXPECT_EQ(error(R"({"hidden_size": 258, "num_attention_heads": 129})"),
            "config.json: \"num_attention_heads\" must be a whole number from 1 to 128, found 129");
  EXPECT_EQ(error(R"({"architectures": ["BertForSequenceClassification"], "num_labels": 4097})"),
            "config.json: \"num_labels\" must be a whole number from 1 to 4096, found 4097");
  EXPECT_EQ(error(R"({"pad_token_id": 96})"),
            "config.json: \"pad_token_id\" must be a whole number from -1 to 95, found 96");
  EXPECT_EQ(error(R"({"num_attention_heads": 3})"),
            "config.json: num_attention_heads 3 does not divide hidden_size 32");
  EXPECT_EQ(error(R"({"hidden_size": 258, "num_attention_heads": 2})"),
            "config.json: hidden_size / num_attention_heads is 129; at most 128 is supported");
  EXPECT_EQ(error(R"({"layer_norm_eps": 0})"),
            "config.json: \"layer_norm_eps\" must be above 0 and at most 1, found 0");
  EXPECT_EQ(error(R"({"architectures": "BertModel"})"),
            "config.json: \"architectures\" must be an array of strings, found \"BertModel\"");
}

TEST_F(Config, Warnings) {
  EXPECT_EQ(read(R"({"max_position_embeddings": 600})").max_position_embeddings, 512);
  EXPECT_EQ(warnings_, std::vector<std::string>{
                           "config.json: max_position_embeddings 600; the first 512 are kept"});
  read(R"({"model_type": null})");
  EXPECT_EQ(warnings_, std::vector<std::string>{"config.json: no \"model_type\"; read as bert"});
  EXPECT_EQ(read_model(R"({"architectures": ["BertForQuestionAnswering"]})").classifier,
            ClassifierTask::kNone);
  EXPECT_EQ(warnings_, std::vector<std::string>{
                           "config.json: head of architecture BertForQuestionAnswering is not "
                           "supported; converted as an encoder"});
}

TEST_F(Config, ClassificationHead) {
  ModelConfig config = read_model(
      R"({"architectures": ["BertForSequenceClassification"], "id2label": {"1": "no", "0": "yes", "2": 7}})");
  EXPECT_EQ(config.classifier, ClassifierTask::kSequenceClassification);
  EXPECT_EQ(config.problem_type, ProblemType::kSingleLabel);
  EXPECT_EQ(config.label_names, (std::vector<std::string>{"yes", "no", "7"}));
  config = read_model(R"({"architectures": ["BertForSequenceClassification"]})");
  EXPECT_EQ(config.label_names, (std::vector<std::string>{"LABEL_0", "LABEL_1"}));
  config = read_model(R"({"architectures": ["BertForSequenceClassification"], "num_labels": 1})");
  EXPECT_EQ(config.problem_type, ProblemType::kRegression);
  config = read_model(R"({"architectures": ["BertForSequenceClassification"],
                    "problem_type": "multi_label_classification"})");
  EXPECT_EQ(config.problem_type, ProblemType::kMultiLabel);

  EXPECT_EQ(error(R"({"architectures": ["BertForSequenceClassification"], "problem_type": "x"})"),
            "config.json: problem_type \"x\" is unknown; expected single_label_classification, "
            "multi_label_classification or regression");
  EXPECT_EQ(
      error(
          R"({"architectures": ["BertForSequenceClassification"], "id2label": {"0": "a", "2": "b"}})"),
      "config.json: id2label has 2 names, but none for \"1\"");
  EXPECT_EQ(
      error(R"({"architectures": ["BertForSequenceClassification"], "id2label": {"0": [1]}})"),
      "config.json: id2label: \"0\" must be a string, found an array of 1");
  EXPECT_EQ(error(R"({"architectures": ["BertForSequenceClassification"], "id2label": {"0": "a"},
                      "num_labels": 3})"),
            "config.json: \"num_labels\" must be a whole number from 1 to 1, found 3");
}

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
