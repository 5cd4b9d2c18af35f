// SPDX-License-Identifier: Apache-2.0
// config.json: the values that are read, and every error with its exact message.
#include <gtest/gtest.h>

#include "converter/import/config/read_config.hpp"
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
  StackConfig read(const char* change) { return read_model(change).first(); }
  std::string error(const char* change) {
    return error_text([&] { read(change); });
  }

  test::TempFolder folder_;
  std::vector<std::string> warnings_;
};

TEST_F(Config, Numbers) {
  const ModelConfig model = read_model("{}");
  const StackConfig& config = model.first();
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

// Each reason is a line of families.cpp; the list of what is read grows with every family.
TEST_F(Config, OtherModelTypes) {
  const std::pair<const char*, const char*> reasons[] = {
      {"deberta-v2", ": its attention has separate terms for contents and positions "},
      {"nomic_bert", ": its layers are the code of its own repository"},
      {"t5", ": it is an encoder-decoder of another family; embert runs pairs of two BERTs;"},
      {"gpt2", ": it is a decoder; of decoders embert runs BERT's;"},
      {"longformer",
       ": it attends in windows for texts of 4,096 tokens; embert reads at most 512;"},
      {"unheard-of", "; embert reads bert, "}};
  for (const auto& [type, reason] : reasons) {
    const std::string found = error(("{\"model_type\": \"" + std::string(type) + "\"}").c_str());
    EXPECT_EQ(found.find("config.json: model_type \"" + std::string(type) + "\" is not supported" +
                         reason),
              0U)
        << found;
    EXPECT_NE(found.find("; embert reads bert, "), std::string::npos) << found;
  }
}

TEST_F(Config, CodeOfTheModelsOwn) {
  EXPECT_EQ(
      error(R"({"auto_map": {"AutoModel": "jinaai/jina-bert-implementation--x.JinaBertModel"}})"),
      "config.json: auto_map names the code of Jina's models, whose attention has linear "
      "biases (ALiBi) or adapters; embert does not compute these");
  read(R"({"auto_map": {"AutoModel": "modeling.PlainBert"}})");
  EXPECT_EQ(warnings_, (std::vector<std::string>{"config.json: auto_map names code of the model's "
                                                 "own; converted as a plain bert"}));
}

TEST_F(Config, Positions) {
  EXPECT_EQ(read("{}").position_kind, PositionKind::kAbsolute);
  EXPECT_FALSE(read("{}").sinusoidal);
  EXPECT_EQ(read(R"({"position_embedding_type": "relative_key"})").position_kind,
            PositionKind::kRelativeKey);
  EXPECT_EQ(read(R"({"position_embedding_type": "relative_key_query"})").position_kind,
            PositionKind::kRelativeKeyQuery);
  const StackConfig sinusoidal = read(R"({"position_embedding_type": "sinusoidal"})");
  EXPECT_EQ(sinusoidal.position_kind, PositionKind::kAbsolute);
  EXPECT_TRUE(sinusoidal.sinusoidal);
  EXPECT_EQ(error(R"({"position_embedding_type": "rotary"})"),
            "config.json: position_embedding_type \"rotary\" is not supported; absolute, "
            "relative_key, relative_key_query and sinusoidal are");
}

TEST_F(Config, NormPositions) {
  const StackConfig post = read("{}");
  EXPECT_EQ(post.norm_position, NormPosition::kPost);
  EXPECT_TRUE(post.embedding_layer_norm);
  EXPECT_FALSE(post.final_layer_norm);
  const StackConfig pre =
      read(R"({"norm_position": "pre", "final_layer_norm": true, "embedding_layer_norm": false})");
  EXPECT_EQ(pre.norm_position, NormPosition::kPre);
  EXPECT_FALSE(pre.embedding_layer_norm);
  EXPECT_TRUE(pre.final_layer_norm);
  EXPECT_FALSE(read(R"({"embedding_layer_norm": false})").embedding_layer_norm);

  EXPECT_EQ(error(R"({"norm_position": "sandwich"})"),
            "config.json: norm_position \"sandwich\" is not supported; post and pre are");
  EXPECT_EQ(error(R"({"norm_position": "pre"})"),
            "config.json: final_layer_norm false with norm_position \"pre\" is not supported; a "
            "LayerNorm behind the last layer belongs to norm_position \"pre\"");
  EXPECT_EQ(error(R"({"final_layer_norm": true})"),
            "config.json: final_layer_norm true with norm_position \"post\" is not supported; a "
            "LayerNorm behind the last layer belongs to norm_position \"pre\"");
  EXPECT_EQ(error(R"({"norm_position": "pre", "final_layer_norm": true})"),
            "config.json: embedding_layer_norm true with norm_position \"pre\" is not supported; a "
            "pre-LayerNorm stack adds to the embeddings as they are");
}

TEST_F(Config, EmbeddingScaleAndSegments) {
  EXPECT_EQ(read("{}").embedding_scale, 1.0);
  EXPECT_EQ(read(R"({"embedding_scale": 8})").embedding_scale, 8.0);
  EXPECT_EQ(error(R"({"embedding_scale": 0})"),
            "config.json: \"embedding_scale\" must be above 0 and at most 1000000, found 0");
  EXPECT_TRUE(read("{}").stored_types);
  const StackConfig plain = read(R"({"type_vocab_size": 0})");
  EXPECT_FALSE(plain.stored_types);
  EXPECT_EQ(plain.type_vocab_size, 1);
}

TEST_F(Config, PrunedHeads) {
  EXPECT_EQ(read("{}").num_heads_of_layer, (std::vector<int>{2, 2}));
  EXPECT_EQ(read(R"({"pruned_heads": {}})").num_heads_of_layer, (std::vector<int>{2, 2}));
  const StackConfig pruned =
      read(R"({"num_attention_heads": 4, "pruned_heads": {"1": [0, 2, 2], "0": [3]}})");
  EXPECT_EQ(pruned.num_heads_of_layer, (std::vector<int>{3, 2}));
  EXPECT_EQ(pruned.num_attention_heads, 4);
  EXPECT_EQ(pruned.head_size(), 8);

  EXPECT_EQ(error(R"({"pruned_heads": [1]})"),
            "config.json: pruned_heads must be an object: layer -> its pruned heads, found an "
            "array of 1");
  for (const char* layer : {"2", "-1", "x", "0x1", ""}) {
    EXPECT_EQ(
        error((R"({"pruned_heads": {")" + std::string(layer) + R"(": [1]}})").c_str()),
        "config.json: pruned_heads: \"" + std::string(layer) + "\" is no layer; there are 0 to 1");
  }
  for (const char* heads : {"[2]", "[-1]", "[0.5]", "[\"0\"]", "1"}) {
    EXPECT_EQ(error((R"({"pruned_heads": {"1": )" + std::string(heads) + "}}").c_str()),
              "config.json: pruned_heads: \"1\" must be an array of heads from 0 to 1, found " +
                  std::string(heads));
  }
  EXPECT_EQ(error(R"({"pruned_heads": {"1": [0, 1]}})"),
            "config.json: pruned_heads: a layer without heads (\"1\") is not supported; one must "
            "stay");
}

TEST_F(Config, ChunkedFeedForwardIsTheSame) {
  read(R"({"chunk_size_feed_forward": 8})");
  EXPECT_TRUE(warnings_.empty());
  EXPECT_EQ(error(R"({"chunk_size_feed_forward": -1})"),
            "config.json: \"chunk_size_feed_forward\" must be a whole number from 0 to 65536, "
            "found -1");
}

TEST_F(Config, Decoders) {
  const StackConfig encoder = read("{}");
  EXPECT_FALSE(encoder.is_decoder);
  EXPECT_FALSE(encoder.cross_attention);
  EXPECT_EQ(encoder.cross_hidden_size, 0);
  EXPECT_TRUE(read(R"({"is_decoder": true})").is_decoder);
  const StackConfig cross = read(R"({"is_decoder": true, "add_cross_attention": true})");
  EXPECT_TRUE(cross.cross_attention);
  EXPECT_EQ(cross.cross_hidden_size, 32);
  EXPECT_EQ(read(R"({"is_decoder": true, "add_cross_attention": true,
                     "cross_attention_hidden_size": 48})")
                .cross_hidden_size,
            48);
  EXPECT_EQ(error(R"({"add_cross_attention": true})"),
            "config.json: add_cross_attention true with is_decoder false is not supported; "
            "cross-attention belongs to decoders");
}

TEST_F(Config, SpecialIds) {
  const ModelConfig none = read_model(R"({"pad_token_id": null})");
  EXPECT_EQ(none.pad_token_id, -1);
  EXPECT_EQ(none.eos_token_id, -1);
  EXPECT_EQ(none.decoder_start_token_id, -1);
  const ModelConfig some = read_model(R"({"is_decoder": true, "pad_token_id": 1,
                                          "eos_token_id": 2, "decoder_start_token_id": 3})");
  EXPECT_EQ(some.pad_token_id, 1);
  EXPECT_EQ(some.eos_token_id, 2);
  EXPECT_EQ(some.decoder_start_token_id, 3);
  EXPECT_EQ(error(R"({"is_decoder": true, "eos_token_id": 96})"),
            "config.json: \"eos_token_id\" must be a whole number from -1 to 95, found 96");
  // An encoder generates nothing: ModernBERT's defaults name ids of the vocabulary of its paper.
  const ModelConfig encoder =
      read_model(R"({"pad_token_id": 1, "bos_token_id": 50281, "eos_token_id": [50282]})");
  EXPECT_EQ(encoder.pad_token_id, 1);
  EXPECT_EQ(encoder.eos_token_id, -1);
  EXPECT_EQ(encoder.decoder_start_token_id, -1);
}

TEST_F(Config, CrossEncodersWithoutAFunctionAreNamed) {
  const auto warnings_of = [&](const std::string& labels, const std::string& field) {
    read_model((R"({"architectures": ["BertForSequenceClassification"], "num_labels": )" + labels +
                ", " + field + "}")
                   .c_str());
    return warnings_;
  };
  const std::vector<std::string> warning = {
      "config.json: sentence-transformers gives this model's logits, embert their sigmoids, which "
      "have the same order; for logits use --function none, in Python activation_fn=\"none\""};
  const std::string
      old_field = R"("sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity")",
      sigmoid = R"("sentence_transformers": {"activation_fn": "torch.nn.Sigmoid"})";
  EXPECT_EQ(warnings_of("1", old_field), warning);
  EXPECT_EQ(warnings_of("1", R"("sentence_transformers": {"version": "4.1.0",
                                  "activation_fn": "torch.nn.modules.linear.Identity"})"),
            warning);
  EXPECT_TRUE(warnings_of("1", sigmoid).empty());
  EXPECT_TRUE(warnings_of("3", old_field).empty());
}

TEST_F(Config, Architectures) {
  struct Case {
    const char* name;
    ClassifierTask classifier;
    TokenTask tokens;
    LanguageHeadKind language;
    std::vector<std::string> labels;
  };
  using C = ClassifierTask;
  using T = TokenTask;
  using L = LanguageHeadKind;
  const std::vector<std::string> two = {"LABEL_0", "LABEL_1"}, next = {"is_next", "not_next"};
  const Case cases[] = {
      {"BertModel", C::kNone, T::kNone, L::kNone, {}},
      {"BertForPreTraining", C::kNextSentence, T::kNone, L::kBert, next},
      {"BertForMaskedLM", C::kNone, T::kNone, L::kBert, {}},
      {"BertLMHeadModel", C::kNone, T::kNone, L::kBert, {}},
      {"BertForNextSentencePrediction", C::kNextSentence, T::kNone, L::kNone, next},
      {"BertForSequenceClassification", C::kSequenceClassification, T::kNone, L::kNone, two},
      {"BertForMultipleChoice", C::kMultipleChoice, T::kNone, L::kNone, {"choice"}},
      {"BertForTokenClassification", C::kNone, T::kTokenClassification, L::kNone, two},
      {"BertForQuestionAnswering", C::kNone, T::kQuestionAnswering, L::kNone, {"start", "end"}}};
  for (const Case& expected : cases) {
    const ModelConfig found =
        read_model(("{\"architectures\": [\"" + std::string(expected.name) + "\"]}").c_str());
    EXPECT_EQ(found.stacks.size(), 1U);
    EXPECT_EQ(found.classifier, expected.classifier) << expected.name;
    EXPECT_EQ(found.token_classifier, expected.tokens) << expected.name;
    EXPECT_EQ(found.language_head, expected.language) << expected.name;
    EXPECT_EQ(found.label_names, expected.labels) << expected.name;
    EXPECT_TRUE(found.tied_output);
    EXPECT_TRUE(warnings_.empty());
  }
  EXPECT_FALSE(read_model(R"({"architectures": ["BertForMaskedLM"], "tie_word_embeddings": false})")
                   .tied_output);
  EXPECT_EQ(read_model(R"({"architectures": ["BertForTokenClassification"],
                           "id2label": {"0": "O", "1": "B-PER", "2": "I-PER"}})")
                .label_names,
            (std::vector<std::string>{"O", "B-PER", "I-PER"}));
}

TEST_F(Config, PairByOneConfig) {
  const ModelConfig pair = read_model(
      R"({"architectures": null, "is_encoder_decoder": true, "decoder_vocab_size": 70,
          "decoder_start_token_id": 69, "embedding_layer_norm": false})");
  ASSERT_EQ(pair.stacks.size(), 2U);
  EXPECT_FALSE(pair.first().is_decoder);
  EXPECT_FALSE(pair.first().cross_attention);
  EXPECT_EQ(pair.first().vocab_size, 96);
  EXPECT_TRUE(pair.last().is_decoder);
  EXPECT_TRUE(pair.last().cross_attention);
  EXPECT_EQ(pair.last().cross_hidden_size, 32);
  EXPECT_EQ(pair.last().vocab_size, 70);
  EXPECT_EQ(pair.language_head, LanguageHeadKind::kLinear);
  EXPECT_FALSE(pair.tied_output);
  EXPECT_EQ(pair.decoder_start_token_id, 69);
  EXPECT_EQ(
      error(R"({"is_encoder_decoder": true})"),
      "config.json: model_type \"bert\" with is_encoder_decoder true and architecture BertModel "
      "is not supported; the config of an EncoderDecoderModel has model_type "
      "\"encoder-decoder\"");
  EXPECT_EQ(
      error(R"({"architectures": null, "is_encoder_decoder": true, "decoder_vocab_size": 0})"),
      "config.json: \"decoder_vocab_size\" must be a whole number from 1 to 1048576, found 0");
  EXPECT_EQ(error(R"({"architectures": null, "is_encoder_decoder": true, "is_decoder": true})"),
            "config.json: is_decoder true with is_encoder_decoder true is not supported; the "
            "decoder of a pair needs no is_decoder");
}

class NestedConfig : public Config {
 protected:
  // An encoder-decoder config, with `change` merged into it.
  ModelConfig read_pair(const char* change) {
    const json stack = test::make_model().config;
    json config = {{"model_type", "encoder-decoder"},
                   {"architectures", {"EncoderDecoderModel"}},
                   {"is_encoder_decoder", true},
                   {"decoder_start_token_id", 7},
                   {"encoder", stack},
                   {"decoder", stack}};
    config["decoder"].update({{"is_decoder", true},
                              {"add_cross_attention", true},
                              {"vocab_size", 80},
                              {"hidden_size", 48},
                              {"eos_token_id", 79}});
    config.merge_patch(json::parse(change));
    folder_.write("config.json", config.dump());
    warnings_.clear();
    return read_config(folder_.path(), warnings_);
  }
  std::string pair_error(const char* change) {
    return error_text([&] { read_pair(change); });
  }
};

TEST_F(NestedConfig, IsReadStackByStack) {
  const ModelConfig pair = read_pair("{}");
  ASSERT_EQ(pair.stacks.size(), 2U);
  EXPECT_EQ(pair.first().hidden_size, 32);
  EXPECT_EQ(pair.first().vocab_size, 96);
  EXPECT_EQ(pair.last().hidden_size, 48);
  EXPECT_EQ(pair.last().vocab_size, 80);
  EXPECT_TRUE(pair.last().is_decoder);
  EXPECT_EQ(pair.last().cross_hidden_size, 48);
  EXPECT_EQ(pair.language_head, LanguageHeadKind::kBert);
  EXPECT_TRUE(pair.tied_output);
  EXPECT_EQ(pair.decoder_start_token_id, 7);
  EXPECT_EQ(pair.eos_token_id, 79);  // the decoder's id
  EXPECT_EQ(pair.pad_token_id, 0);
  EXPECT_EQ(read_pair(R"({"eos_token_id": 5})").eos_token_id, 5);
  EXPECT_FALSE(read_pair(R"({"decoder": {"tie_word_embeddings": false}})").tied_output);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(NestedConfig, Refusals) {
  EXPECT_EQ(pair_error(R"({"encoder": null})"), "config.json: \"encoder\" is missing");
  EXPECT_EQ(pair_error(R"({"decoder": 3})"),
            "config.json: decoder: expected a JSON object, found 3");
  EXPECT_EQ(pair_error(R"({"encoder": {"model_type": "roberta"}})"),
            "config.json: encoder: model_type \"roberta\" is not supported in a pair; embert reads "
            "pairs of two bert");
  EXPECT_EQ(pair_error(R"({"encoder": {"is_decoder": true}})"),
            "config.json: encoder: is_decoder true is not supported; the encoder of a pair is not "
            "causal");
  EXPECT_EQ(pair_error(R"({"decoder": {"add_cross_attention": false}})"),
            "config.json: decoder: add_cross_attention false is not supported; the decoder of a "
            "pair reads its encoder");
  EXPECT_EQ(pair_error(R"({"decoder": {"tie_encoder_decoder": true}})"),
            "config.json: decoder: tie_encoder_decoder true is not supported; embert reads pairs "
            "with weights of their own");
  EXPECT_EQ(
      pair_error(R"({"decoder": {"cross_attention_hidden_size": 4097}})"),
      "config.json: decoder: \"cross_attention_hidden_size\" must be a whole number from 1 to "
      "4096, found 4097");
  EXPECT_EQ(pair_error(R"({"decoder": {"hidden_size": 4097}})"),
            "config.json: decoder: \"hidden_size\" must be a whole number from 1 to 4096, found "
            "4097");
}

TEST_F(Config, CalibrationRanges) {
  EXPECT_EQ(error(R"({"hidden_size": null})"), "config.json: \"hidden_size\" is missing");
  EXPECT_EQ(error(R"({"hidden_size": 4097})"),
            "config.json: \"hidden_size\" must be a whole number from 1 to 4096, found 4097");
  EXPECT_EQ(error(R"({"num_hidden_layers": 49})"),
            "config.json: \"num_hidden_layers\" must be a whole number from 1 to 48, found 49");
  EXPECT_EQ(error(R"({"intermediate_size": 4225})"),
            "config.json: \"intermediate_size\" must be a whole number from 1 to 4224, found 4225");
  EXPECT_EQ(error(R"({"vocab_size": 0})"),
            "config.json: \"vocab_size\" must be a whole number from 1 to 1048576, found 0");
  EXPECT_EQ(error(R"({"type_vocab_size": 17})"),
            "config.json: \"type_vocab_size\" must be a whole number from 0 to 16, found 17");
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
  EXPECT_EQ(read_model(R"({"architectures": ["BertForDancing"]})").classifier,
            ClassifierTask::kNone);
  EXPECT_EQ(warnings_,
            std::vector<std::string>{"config.json: head of architecture BertForDancing is not "
                                     "supported; converted without"});
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
  EXPECT_EQ(error(R"({"architectures": ["BertForSequenceClassification"], "id2label": ["a"]})"),
            "config.json: id2label must be an object with 1 to 4096 names, found an array of 1");
  EXPECT_EQ(error(R"({"architectures": ["BertForSequenceClassification"], "id2label": {"0": "a"},
                      "num_labels": 3})"),
            "config.json: id2label has 1 names, but num_labels is 3");
}

TEST_F(Config, IdsThatGenerationStartsAndEndsWith) {
  const auto start = [&](const std::string& fields) {
    return read_model(("{\"is_decoder\": true" + fields + "}").c_str()).decoder_start_token_id;
  };
  const auto end = [&](const std::string& fields) {
    return read_model(("{\"is_decoder\": true" + fields + "}").c_str()).eos_token_id;
  };
  EXPECT_EQ(start(""), -1);
  EXPECT_EQ(start(R"(, "bos_token_id": 5)"), 5);
  EXPECT_EQ(start(R"(, "bos_token_id": 5, "decoder_start_token_id": 6)"), 6);
  EXPECT_EQ(error(R"({"is_decoder": true, "bos_token_id": 96})"),
            "config.json: \"bos_token_id\" must be a whole number from -1 to 95, found 96");
  // generation_config.json counts before config.json.
  folder_.write("generation_config.json", R"({"decoder_start_token_id": 7, "bos_token_id": 8,
                                              "eos_token_id": 9})");
  EXPECT_EQ(start(""), 7);
  EXPECT_EQ(end(""), 9);
  EXPECT_EQ(start(R"(, "bos_token_id": 5, "eos_token_id": 4)"), 7);
  EXPECT_EQ(end(R"(, "bos_token_id": 5, "eos_token_id": 4)"), 9);
  folder_.write("generation_config.json", R"({"bos_token_id": 8, "pad_token_id": 3})");
  EXPECT_EQ(end(R"(, "eos_token_id": 4)"), 4);
  EXPECT_EQ(read_model(R"({"is_decoder": true, "pad_token_id": 2})").pad_token_id, 2);
  folder_.write("generation_config.json", R"({"eos_token_id": [9, 10]})");
  EXPECT_EQ(error(R"({"is_decoder": true})"),
            "generation_config.json: \"eos_token_id\" must be a whole number from -1 "
            "to 95, found an array of 2");
  folder_.write("generation_config.json", R"({"eos_token_id": 96})");
  EXPECT_EQ(read_model("{}").eos_token_id, -1);  // of an encoder
  EXPECT_EQ(error(R"({"is_decoder": true})"),
            "generation_config.json: \"eos_token_id\" must be a whole number from -1 "
            "to 95, found 96");
  std::filesystem::remove(folder_.path() / "generation_config.json");
  std::filesystem::create_symlink("generation_config.json",
                                  folder_.path() / "generation_config.json");
  EXPECT_EQ(error(R"({"is_decoder": true})"),
            "generation_config.json: cannot be opened: Too many levels of symbolic links");
}

}  // namespace
}  // namespace embert::convert
