// SPDX-License-Identifier: Apache-2.0
// config.json of the families beside BERT: what each reads, and every refusal with its message.
#include <gtest/gtest.h>

#include "converter/import/config/read_config.hpp"
#include "tests/support/error_text.hpp"
#include "tests/support/model_folder.hpp"

namespace embert::convert {
namespace {

using nlohmann::json;
using test::error_text;

class FamilyConfig : public ::testing::Test {
 protected:
  // Reads `config` with `change` merged into it; null removes a key.
  ModelConfig read(json config, const char* change) {
    config.merge_patch(json::parse(change));
    folder_.write("config.json", config.dump());
    warnings_.clear();
    return read_config(folder_.path(), warnings_);
  }
  std::string error(const json& config, const char* change) {
    return error_text([&] { read(config, change); });
  }
  // The sizes that all but DistilBERT name alike.
  static json sizes(const char* model_type) {
    return {{"model_type", model_type},      {"hidden_size", 32},       {"num_hidden_layers", 2},
            {"num_attention_heads", 2},      {"intermediate_size", 64}, {"vocab_size", 96},
            {"max_position_embeddings", 34}, {"layer_norm_eps", 1e-5},  {"type_vocab_size", 1}};
  }
  static json distilbert() {
    return {{"model_type", "distilbert"},
            {"dim", 32},
            {"n_layers", 2},
            {"n_heads", 2},
            {"hidden_dim", 64},
            {"vocab_size", 96},
            {"activation", "relu"},
            {"max_position_embeddings", 34}};
  }

  test::TempFolder folder_;
  std::vector<std::string> warnings_;
};

TEST_F(FamilyConfig, RobertaCountsPositionsFromThePaddingId) {
  for (const char* type : {"roberta", "xlm-roberta", "camembert"}) {
    const ModelConfig model = read(sizes(type), "{}");
    EXPECT_EQ(model.model_type, "roberta");
    const StackConfig& stack = model.first();
    EXPECT_EQ(stack.padding_position_id, 1);
    EXPECT_EQ(stack.first_position_row, 2);
    EXPECT_EQ(stack.stored_positions, 34);
    EXPECT_EQ(stack.max_position_embeddings, 32);
    EXPECT_EQ(stack.layer_norm_eps, 1e-5);
    EXPECT_EQ(model.language_act, HiddenAct::kGelu);
    EXPECT_TRUE(warnings_.empty());
  }
  const StackConfig other = read(sizes("roberta"), R"({"pad_token_id": 4})").first();
  EXPECT_EQ(other.padding_position_id, 4);
  EXPECT_EQ(other.max_position_embeddings, 29);
  // 514 rows are 512 positions.
  EXPECT_EQ(
      read(sizes("roberta"), R"({"max_position_embeddings": 514})").first().max_position_embeddings,
      512);
  EXPECT_TRUE(warnings_.empty());
  read(sizes("roberta"), R"({"max_position_embeddings": 1026})");
  EXPECT_EQ(warnings_, (std::vector<std::string>{
                           "config.json: max_position_embeddings 1026; the first 512 are kept"}));
  EXPECT_EQ(read(sizes("roberta"), R"({"position_embedding_type": "relative_key"})")
                .first()
                .padding_position_id,
            -1);
}

TEST_F(FamilyConfig, RobertaRefusals) {
  const json config = sizes("xlm-roberta");
  EXPECT_EQ(error(config, R"({"pad_token_id": 96})"),
            "config.json: pad_token_id 96 is no id of the vocabulary of 96");
  EXPECT_EQ(error(config, R"({"pad_token_id": -1})"),
            "config.json: \"pad_token_id\" must be a whole number from 0 to 1048575, found -1");
  EXPECT_EQ(error(config, R"({"max_position_embeddings": 2})"),
            "config.json: max_position_embeddings 2 leaves no position behind row 1, that of "
            "pad_token_id");
  EXPECT_EQ(error(config, R"({"is_decoder": true})"),
            "config.json: is_decoder true is not supported; of decoders embert runs BERT's "
            "(model_type \"bert\")");
  EXPECT_EQ(error(config, R"({"add_cross_attention": true})"),
            "config.json: add_cross_attention true is not supported; of decoders embert runs "
            "BERT's (model_type \"bert\")");
}

TEST_F(FamilyConfig, DistilBertHasNamesOfItsOwn) {
  const ModelConfig model = read(distilbert(), "{}");
  const StackConfig& stack = model.first();
  EXPECT_EQ(stack.hidden_size, 32);
  EXPECT_EQ(stack.num_hidden_layers, 2);
  EXPECT_EQ(stack.num_attention_heads, 2);
  EXPECT_EQ(stack.intermediate_size, 64);
  EXPECT_EQ(stack.hidden_act, HiddenAct::kRelu);
  EXPECT_EQ(stack.layer_norm_eps, 1e-12);
  EXPECT_FALSE(stack.stored_types);
  EXPECT_EQ(stack.padding_position_id, -1);
  EXPECT_EQ(model.pooled.act, HiddenAct::kRelu);
  EXPECT_FALSE(model.language_act.has_value());
  // The file's eps and segments are not DistilBERT's.
  EXPECT_EQ(read(distilbert(), R"({"layer_norm_eps": 0.5})").first().layer_norm_eps, 1e-12);
  EXPECT_FALSE(read(distilbert(), R"({"type_vocab_size": 2})").first().stored_types);

  EXPECT_EQ(error(distilbert(), R"({"n_layers": null})"), "config.json: \"n_layers\" is missing");
  EXPECT_EQ(error(distilbert(), R"({"dim": 33})"), "config.json: n_heads 2 does not divide dim 33");
  EXPECT_EQ(error(distilbert(), R"({"dim": 4097})"),
            "config.json: \"dim\" must be a whole number from 1 to 4096, found 4097");
  EXPECT_EQ(error(distilbert(), R"({"n_heads": 0})"),
            "config.json: \"n_heads\" must be a whole number from 1 to 128, found 0");
  EXPECT_EQ(error(distilbert(), R"({"hidden_dim": "64"})"),
            "config.json: \"hidden_dim\" must be a whole number from 1 to 4224, found \"64\"");
  EXPECT_EQ(error(distilbert(), R"({"activation": "quick_gelu"})"),
            "config.json: activation \"quick_gelu\" is not supported; gelu, gelu_new, relu, silu "
            "and tanh are");
}

TEST_F(FamilyConfig, MpnetHasABiasAndFixedPadding) {
  const StackConfig stack = read(sizes("mpnet"), R"({"pad_token_id": 7})").first();
  EXPECT_TRUE(stack.score_bias);
  EXPECT_FALSE(stack.stored_types);
  EXPECT_EQ(stack.padding_position_id, 1);
  EXPECT_EQ(stack.max_position_embeddings, 32);
  EXPECT_EQ(error(sizes("mpnet"), R"({"relative_attention_num_buckets": 64})"),
            "config.json: relative_attention_num_buckets 64 is not supported; transformers "
            "computes MPNet with 32");
  EXPECT_EQ(error(sizes("mpnet"), R"({"relative_attention_num_buckets": 0})"),
            "config.json: \"relative_attention_num_buckets\" must be a whole number from 1 to "
            "65536, found 0");
  EXPECT_EQ(error(sizes("mpnet"), R"({"pruned_heads": {"0": [1]}})"),
            "config.json: pruned_heads of MPNet is not supported; its table of score biases is for "
            "all attention heads");
}

TEST_F(FamilyConfig, ModernBertHasOptionsOfItsOwn) {
  json config = sizes("modernbert");
  config.erase("layer_norm_eps");
  const ModelConfig model = read(config, "{}");
  const StackConfig& stack = model.first();
  EXPECT_EQ(stack.norm_position, NormPosition::kPre);
  EXPECT_TRUE(stack.embedding_layer_norm && stack.final_layer_norm && stack.gated_ffn);
  EXPECT_FALSE(stack.attention_bias || stack.ffn_bias || stack.norm_bias || stack.stored_types);
  EXPECT_EQ(stack.layer_norm_eps, 1e-5);
  EXPECT_EQ(stack.rotary->theta, 160000);
  EXPECT_EQ(stack.local_attention->period, 3);
  EXPECT_EQ(stack.local_attention->reach, 64);
  EXPECT_TRUE(stack.adds_to_input(0) && !stack.adds_to_input(1));
  EXPECT_TRUE(!stack.is_local(0) && stack.is_local(1) && !stack.is_local(3));
  EXPECT_FALSE(model.transform_bias || model.pooled.mean);
  EXPECT_TRUE(model.output_bias);
  EXPECT_EQ(model.pooled.act, HiddenAct::kGelu);
  EXPECT_TRUE(warnings_.empty());

  const ModelConfig other =
      read(config, R"({"norm_eps": 1e-3, "local_attention": 7, "global_rope_theta": 500.5,
                       "local_rope_theta": 20, "norm_bias": true, "classifier_pooling": "mean",
                       "classifier_activation": "silu", "max_position_embeddings": 8192})");
  EXPECT_EQ(other.first().layer_norm_eps, 1e-3);
  EXPECT_EQ(other.first().local_attention->reach, 3);
  EXPECT_EQ(other.first().rotary->theta, 500.5);
  EXPECT_EQ(other.first().rotary->local_theta, 20);
  EXPECT_TRUE(other.first().norm_bias && other.pooled.mean);
  EXPECT_EQ(other.token_act, HiddenAct::kSilu);
  EXPECT_EQ(warnings_, (std::vector<std::string>{
                           "config.json: max_position_embeddings 8192; the first 512 are kept"}));
}

// Written by transformers 5.23 for the same values.
TEST_F(FamilyConfig, ModernBertOfTransformers5) {
  json config = sizes("modernbert");
  config["num_hidden_layers"] = 6;
  const StackConfig stack = read(config, R"({"rope_parameters": {
                         "full_attention": {"rope_theta": 500.5, "rope_type": "default"},
                         "sliding_attention": {"rope_theta": 20.0, "rope_type": "default"}},
                       "global_attn_every_n_layers": 3,
                       "layer_types": ["full_attention", "sliding_attention", "full_attention",
                                       "sliding_attention", "full_attention", "sliding_attention"]})")
                                .first();
  EXPECT_EQ(stack.rotary->theta, 500.5);
  EXPECT_EQ(stack.rotary->local_theta, 20);
  EXPECT_EQ(stack.local_attention->period, 2);  // layer_types count

  const auto thetas = [&](const char* change) {
    const RotaryConfig rotary = *read(config, change).first().rotary;
    return std::pair(rotary.theta, rotary.local_theta);
  };
  EXPECT_EQ(thetas("{}"), std::pair(160000.0, 10000.0));
  EXPECT_EQ(thetas(R"({"rope_parameters": {"full_attention": null}, "global_rope_theta": 7})"),
            std::pair(7.0, 10000.0));
  // transformers 4 takes null for the same base in all layers. A merge patch can not write it.
  config["local_rope_theta"] = nullptr;
  EXPECT_EQ(thetas("{}"), std::pair(160000.0, 160000.0));
}

TEST_F(FamilyConfig, ModernBertRefusals) {
  const json config = sizes("modernbert");
  EXPECT_EQ(error(config, R"({"hidden_size": 30})"),
            "config.json: a head size of 15 is not supported; rotary positions turn pairs of "
            "channels: it must be even");
  EXPECT_EQ(error(config, R"({"global_rope_theta": 1})"),
            "config.json: \"global_rope_theta\" must be above 1 and at most 1e12, found 1");
  EXPECT_EQ(error(config, R"({"local_rope_theta": -3})"),
            "config.json: \"local_rope_theta\" must be above 1 and at most 1e12, found -3");
  EXPECT_EQ(error(config, R"({"rope_scaling": {"factor": 2}})"),
            "config.json: rope_scaling is not supported; rotary positions without scaling are");
  const std::string parameters = "config.json: rope_parameters";
  EXPECT_EQ(error(config, R"({"rope_parameters": 3})"),
            parameters + ": expected a JSON object, found 3");
  EXPECT_EQ(error(config, R"({"rope_parameters": {"rope_theta": 10000}})"),
            parameters +
                ": \"rope_theta\" is not supported; full_attention and "
                "sliding_attention are");
  EXPECT_EQ(error(config, R"({"rope_parameters": {"full_attention": {"rope_type": "yarn"}}})"),
            parameters + ": full_attention: rope_type \"yarn\" is not supported; default is");
  EXPECT_EQ(error(config, R"({"rope_parameters": {"sliding_attention": {"rope_theta": 0}}})"),
            parameters +
                ": sliding_attention: \"rope_theta\" must be above 1 and at most 1e12, "
                "found 0");
  EXPECT_EQ(error(config, R"({"layer_types": ["full_attention"]})"),
            "config.json: layer_types must be an array of 2 times full_attention or "
            "sliding_attention, found an array of 1");
  EXPECT_EQ(error(config, R"({"layer_types": ["full_attention", "linear_attention"]})"),
            "config.json: layer_types must be an array of 2 times full_attention or "
            "sliding_attention, found an array of 2");
  EXPECT_EQ(error(config, R"({"layer_types": ["sliding_attention", "full_attention"]})"),
            "config.json: layer_types with sliding_attention in layer 0 is not supported; "
            "full_attention in every n-th layer from layer 0 on is");
  EXPECT_EQ(error(config, R"({"global_attn_every_n_layers": 0})"),
            "config.json: \"global_attn_every_n_layers\" must be a whole number from 1 to 65536, "
            "found 0");
  EXPECT_EQ(error(config, R"({"local_attention": -1})"),
            "config.json: \"local_attention\" must be a whole number from 0 to 65536, found -1");
  EXPECT_EQ(error(config, R"({"norm_eps": 0})"),
            "config.json: \"norm_eps\" must be above 0 and at most 1, found 0");
  EXPECT_EQ(error(config, R"({"max_position_embeddings": 65537})"),
            "config.json: \"max_position_embeddings\" must be a whole number from 1 to 65536, "
            "found 65537");
  EXPECT_EQ(error(config, R"({"classifier_pooling": "max"})"),
            "config.json: classifier_pooling \"max\" is not supported; cls and mean are");
  EXPECT_EQ(error(config, R"({"hidden_activation": "relu6"})"),
            "config.json: hidden_activation \"relu6\" is not supported; gelu, gelu_new, relu, silu "
            "and tanh are");
}

TEST_F(FamilyConfig, MobileBertHasBottlenecks) {
  const json config = sizes("mobilebert");
  const ModelConfig model = read(config, R"({"intra_bottleneck_size": 16, "embedding_size": 24})");
  const StackConfig& stack = model.first();
  EXPECT_EQ(stack.bottleneck, BottleneckKind::kShared);
  EXPECT_EQ(stack.intra_size(), 16);
  EXPECT_EQ(stack.head_size(), 8);
  EXPECT_EQ(stack.num_ffns, 4);
  EXPECT_EQ(stack.hidden_act, HiddenAct::kRelu);
  EXPECT_FALSE(stack.layer_norms);
  EXPECT_TRUE(stack.trigrams);
  EXPECT_EQ(stack.word_size(), 24);
  EXPECT_EQ(stack.embedding_size(), 32);
  EXPECT_TRUE(model.pooled.dense);
  EXPECT_TRUE(warnings_.empty());

  const StackConfig input = read(config, R"({"intra_bottleneck_size": 16, "embedding_size": 32,
                       "use_bottleneck_attention": true, "trigram_input": false})")
                                .first();
  EXPECT_EQ(input.bottleneck, BottleneckKind::kInput);
  EXPECT_FALSE(input.has_word_projection());
  const ModelConfig plain =
      read(config, R"({"use_bottleneck": false, "embedding_size": 32, "true_hidden_size": 7,
                       "normalization_type": "layer_norm", "classifier_activation": false})");
  EXPECT_EQ(plain.first().bottleneck, BottleneckKind::kNone);
  EXPECT_EQ(plain.first().intra_size(), 32);
  EXPECT_TRUE(plain.first().layer_norms);
  EXPECT_FALSE(plain.pooled.dense);
}

TEST_F(FamilyConfig, MobileBertRefusals) {
  json config = sizes("mobilebert");
  config["intra_bottleneck_size"] = 16;
  config["embedding_size"] = 24;
  EXPECT_EQ(error(config, R"({"embedding_size": 33})"),
            "config.json: embedding_size 33 above hidden_size 32 is not supported; words up to "
            "hidden_size are");
  EXPECT_EQ(error(config, R"({"embedding_size": 0})"),
            "config.json: \"embedding_size\" must be a whole number from 1 to 4096, found 0");
  EXPECT_EQ(error(config, R"({"intra_bottleneck_size": 33})"),
            "config.json: \"intra_bottleneck_size\" must be a whole number from 1 to 32, found 33");
  EXPECT_EQ(error(config, R"({"intra_bottleneck_size": null})"),
            "config.json: no intra_bottleneck_size, which means 128, above hidden_size is not "
            "supported; up to hidden_size is");
  EXPECT_EQ(error(config, R"({"intra_bottleneck_size": 15})"),
            "config.json: num_attention_heads 2 does not divide intra_bottleneck_size 15");
  EXPECT_EQ(error(config, R"({"use_bottleneck": false, "num_attention_heads": 3})"),
            "config.json: num_attention_heads 3 does not divide hidden_size 32");
  EXPECT_EQ(error(config, R"({"key_query_shared_bottleneck": false})"),
            "config.json: use_bottleneck without use_bottleneck_attention and "
            "key_query_shared_bottleneck is not supported; it needs intra_bottleneck_size to be "
            "hidden_size, as in transformers");
  EXPECT_EQ(
      error(config, R"({"num_feedforward_networks": 0})"),
      "config.json: \"num_feedforward_networks\" must be a whole number from 1 to 16, found 0");
  EXPECT_EQ(
      error(config, R"({"num_feedforward_networks": 17})"),
      "config.json: \"num_feedforward_networks\" must be a whole number from 1 to 16, found 17");
  EXPECT_EQ(error(config, R"({"normalization_type": "rms_norm"})"),
            "config.json: normalization_type \"rms_norm\" is not supported; no_norm and layer_norm "
            "are");
  EXPECT_EQ(error(config, R"({"trigram_input": 1})"),
            "config.json: \"trigram_input\" must be true or false, found 1");
  EXPECT_EQ(
      error(config, R"({"hidden_act": "mish"})"),
      "config.json: hidden_act \"mish\" is not supported; gelu, gelu_new, relu, silu and tanh "
      "are");
  EXPECT_EQ(error(config, R"({"is_decoder": true})"),
            "config.json: is_decoder true is not supported; of decoders embert runs BERT's "
            "(model_type \"bert\")");
}

TEST_F(FamilyConfig, ElectraAndAlbertRefusals) {
  for (const char* type : {"electra", "albert"}) {
    const json config = sizes(type);
    EXPECT_EQ(error(config, R"({"embedding_size": 0})"),
              "config.json: \"embedding_size\" must be a whole number from 1 to 4096, found 0");
    EXPECT_EQ(error(config, R"({"embedding_size": 4097})"),
              "config.json: \"embedding_size\" must be a whole number from 1 to 4096, found 4097");
    EXPECT_EQ(error(config, R"({"position_embedding_type": "rotary"})"),
              "config.json: position_embedding_type \"rotary\" is not supported; absolute, "
              "relative_key, relative_key_query and sinusoidal are");
    EXPECT_EQ(error(config, R"({"is_decoder": true})"),
              "config.json: is_decoder true is not supported; of decoders embert runs BERT's "
              "(model_type \"bert\")");
  }
  const json albert = sizes("albert");
  EXPECT_EQ(error(albert, R"({"num_hidden_groups": 3})"),
            "config.json: \"num_hidden_groups\" must be a whole number from 1 to 2, found 3");
  EXPECT_EQ(error(albert, R"({"num_hidden_groups": 0})"),
            "config.json: \"num_hidden_groups\" must be a whole number from 1 to 2, found 0");
  EXPECT_EQ(error(albert, R"({"inner_group_num": 25})"),
            "config.json: \"inner_group_num\" must be a whole number from 1 to 24, found 25");
  EXPECT_EQ(error(albert, R"({"inner_group_num": 0})"),
            "config.json: \"inner_group_num\" must be a whole number from 1 to 24, found 0");
}

TEST_F(FamilyConfig, ArchitecturesHaveTheirHeads) {
  struct Case {
    const char *model_type, *name;
    ClassifierTask classifier;
    TokenTask tokens;
    LanguageHeadKind language;
  };
  using C = ClassifierTask;
  using T = TokenTask;
  using L = LanguageHeadKind;
  std::vector<Case> cases;
  const auto add = [&](const char* type, const std::vector<const char*>& names) {
    cases.push_back({type, names[0], C::kNone, T::kNone, L::kNone});
    cases.push_back({type, names[1], C::kNone, T::kNone, L::kBert});
    cases.push_back({type, names[2], C::kSequenceClassification, T::kNone, L::kNone});
    cases.push_back({type, names[3], C::kMultipleChoice, T::kNone, L::kNone});
    cases.push_back({type, names[4], C::kNone, T::kTokenClassification, L::kNone});
    cases.push_back({type, names[5], C::kNone, T::kQuestionAnswering, L::kNone});
  };
  add("roberta",
      {"RobertaModel", "RobertaForMaskedLM", "RobertaForSequenceClassification",
       "RobertaForMultipleChoice", "RobertaForTokenClassification", "RobertaForQuestionAnswering"});
  add("xlm-roberta", {"XLMRobertaModel", "XLMRobertaForMaskedLM",
                      "XLMRobertaForSequenceClassification", "XLMRobertaForMultipleChoice",
                      "XLMRobertaForTokenClassification", "XLMRobertaForQuestionAnswering"});
  add("camembert", {"CamembertModel", "CamembertForMaskedLM", "CamembertForSequenceClassification",
                    "CamembertForMultipleChoice", "CamembertForTokenClassification",
                    "CamembertForQuestionAnswering"});
  add("mpnet",
      {"MPNetModel", "MPNetForMaskedLM", "MPNetForSequenceClassification", "MPNetForMultipleChoice",
       "MPNetForTokenClassification", "MPNetForQuestionAnswering"});
  add("distilbert", {"DistilBertModel", "DistilBertForMaskedLM",
                     "DistilBertForSequenceClassification", "DistilBertForMultipleChoice",
                     "DistilBertForTokenClassification", "DistilBertForQuestionAnswering"});
  for (const Case& expected : cases) {
    const std::string type = expected.model_type;
    json config = type == "distilbert" ? distilbert() : sizes(expected.model_type);
    config["architectures"] = {expected.name};
    const ModelConfig found = read(config, "{}");
    EXPECT_EQ(found.classifier, expected.classifier) << expected.name;
    EXPECT_EQ(found.token_classifier, expected.tokens) << expected.name;
    EXPECT_EQ(found.language_head, expected.language) << expected.name;
    EXPECT_TRUE(warnings_.empty()) << expected.name;
  }
  json causal = sizes("roberta");
  causal["architectures"] = {"RobertaForCausalLM"};
  read(causal, "{}");
  EXPECT_EQ(warnings_, (std::vector<std::string>{"config.json: head of architecture "
                                                 "RobertaForCausalLM is not supported; converted "
                                                 "without"}));
}

}  // namespace
}  // namespace embert::convert
