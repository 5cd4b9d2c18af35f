// SPDX-License-Identifier: Apache-2.0
// Each option of the family: quantised, written as a blob and run by the runtime, against the float
// model. random_members_test.cpp combines options, quantize_parts_test.cpp checks the integers.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/converter/quantize/random_bert.hpp"
#include "tests/support/error_text.hpp"

namespace embert::test {
namespace {

using convert::ClassifierTask;
using convert::LanguageHeadKind;
using convert::ModelConfig;
using convert::NormPosition;
using convert::PositionKind;
using convert::StackConfig;
using convert::TokenTask;

void make_pre_norm(StackConfig& stack) {
  stack.norm_position = NormPosition::kPre;
  stack.embedding_layer_norm = false;
  stack.final_layer_norm = true;
}

StackConfig small_decoder(int cross_hidden_size) {
  StackConfig stack = small_stack();
  stack.is_decoder = true;
  stack.cross_attention = cross_hidden_size > 0;
  stack.cross_hidden_size = cross_hidden_size;
  return stack;
}

ModelConfig one_stack(const StackConfig& stack) {
  ModelConfig config;
  config.stacks = {stack};
  return config;
}

ModelConfig language_model(const StackConfig& stack, LanguageHeadKind kind, bool tied) {
  ModelConfig config = one_stack(stack);
  config.language_head = kind;
  config.tied_output = tied;
  return config;
}

// Two stacks; the decoder reads states of `width`.
ModelConfig pair_of(int width, LanguageHeadKind kind) {
  ModelConfig config = language_model(small_decoder(width), kind, false);
  config.stacks.insert(config.stacks.begin(), small_stack());
  config.stacks[1].vocab_size = 61;
  return config;
}

TEST(QuantizeFamily, RelativePositions) {
  for (const PositionKind kind : {PositionKind::kRelativeKey, PositionKind::kRelativeKeyQuery}) {
    ModelConfig config = one_stack(small_stack());
    config.stacks[0].position_kind = kind;
    EXPECT_GT(agreement({config, 1}).cosine_min, 0.998);
    config.stacks[0].hidden_size = 36;  // head size 12
    config.stacks[0].num_attention_heads = 3;
    config.stacks[0].num_heads_of_layer.assign(3, 3);
    EXPECT_GT(agreement({config, 2}).cosine_min, 0.998);
  }
}

TEST(QuantizeFamily, PreNorm) {
  ModelConfig config = one_stack(small_stack());
  make_pre_norm(config.stacks[0]);
  EXPECT_GT(agreement({config, 3}).cosine_min, 0.998);
}

TEST(QuantizeFamily, NoLayerNormAfterTheEmbeddings) {
  ModelConfig config = one_stack(small_stack());
  config.stacks[0].embedding_layer_norm = false;
  EXPECT_GT(agreement({config, 4}).cosine_min, 0.998);
}

TEST(QuantizeFamily, PrunedHeads) {
  ModelConfig config = one_stack(small_stack());
  config.stacks[0].num_attention_heads = 4;
  config.stacks[0].num_heads_of_layer = {1, 4, 3};
  EXPECT_GT(agreement({config, 5}).cosine_min, 0.998);
}

TEST(QuantizeFamily, MaskedTokens) {
  for (const bool tied : {false, true}) {
    const ModelConfig config = language_model(small_stack(), LanguageHeadKind::kBert, tied);
    EXPECT_GT(agreement({config, 6}).cosine_min, 0.995) << tied;
  }
}

TEST(QuantizeFamily, LanguageModels) {
  for (const bool tied : {false, true}) {
    for (const LanguageHeadKind kind : {LanguageHeadKind::kBert, LanguageHeadKind::kLinear}) {
      ModelConfig config = language_model(small_decoder(0), kind, tied);
      EXPECT_GT(agreement({config, 7}).cosine_min, 0.995) << tied;
      config.stacks[0].position_kind = PositionKind::kRelativeKeyQuery;
      make_pre_norm(config.stacks[0]);
      EXPECT_GT(agreement({config, 8}).cosine_min, 0.99) << tied;
    }
  }
}

TEST(QuantizeFamily, CrossAttentionToGivenStates) {
  for (const int width : {32, 20}) {
    const ModelConfig config = language_model(small_decoder(width), LanguageHeadKind::kBert, true);
    EXPECT_GT(agreement({config, 9}).cosine_min, 0.995) << width;
  }
}

TEST(QuantizeFamily, EncoderAndDecoder) {
  EXPECT_GT(agreement({pair_of(32, LanguageHeadKind::kBert), 10}).cosine_min, 0.99);
  EXPECT_GT(agreement({pair_of(24, LanguageHeadKind::kBert), 11}).cosine_min, 0.99);  // projection
  ModelConfig config = pair_of(32, LanguageHeadKind::kLinear);
  for (StackConfig& stack : config.stacks) make_pre_norm(stack);
  EXPECT_GT(agreement({config, 12}).cosine_min, 0.99);
  config = pair_of(32, LanguageHeadKind::kLinear);
  for (StackConfig& stack : config.stacks) stack.embedding_layer_norm = false;
  config.decoder_start_token_id = 3;
  EXPECT_GT(agreement({config, 13}).cosine_min, 0.99);
  config.stacks[1].vocab_size = config.stacks[0].vocab_size;  // the texts are the targets, too
  EXPECT_GT(agreement({config, 13}).cosine_min, 0.99);
}

TEST(QuantizeFamily, HeadsOnThePooledVector) {
  ModelConfig config = one_stack(small_stack());
  config.classifier = ClassifierTask::kNextSentence;
  config.label_names = {"is_next", "not_next"};
  EXPECT_LT(agreement({config, 14}).logit_error_max, 0.1);
  config.classifier = ClassifierTask::kMultipleChoice;
  config.label_names = {"choice"};
  EXPECT_LT(agreement({config, 15}).logit_error_max, 0.1);
  config.classifier = ClassifierTask::kSequenceClassification;
  config.label_names = {"a", "b", "c", "d"};
  EXPECT_GT(agreement({config, 16}).cosine_min, 0.99);
}

TEST(QuantizeFamily, HeadsOnTokens) {
  ModelConfig config = one_stack(small_stack());
  config.token_classifier = TokenTask::kTokenClassification;
  config.label_names = {"O", "B", "I"};
  const convert::VerifyResult tokens = agreement({config, 17});
  EXPECT_EQ(tokens.compared, convert::Compared::kTokenLogits);
  EXPECT_GT(tokens.cosine_min, 0.998);
  EXPECT_GT(tokens.agreement, 0.9) << "entities";
  config.token_classifier = TokenTask::kQuestionAnswering;
  config.label_names = {"start", "end"};
  EXPECT_GT(agreement({config, 18}).cosine_min, 0.998);
}

TEST(QuantizeFamily, SeveralHeadsOnOneStack) {
  ModelConfig config = language_model(small_stack(), LanguageHeadKind::kBert, true);
  config.classifier = ClassifierTask::kNextSentence;
  config.label_names = {"is_next", "not_next"};
  EXPECT_GT(agreement({config, 19}).cosine_min, 0.995);
}

void expect_refused(const RandomBert& bert, std::span<const std::uint8_t> blob,
                    const std::string& part) {
  const std::string error = error_text([&] { agreement(bert, blob); });
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

TEST(QuantizeFamily, PrunedHeadsBesideCrossAttentionAreRefused) {
  ModelConfig config = one_stack(small_decoder(32));
  config.stacks[0].num_heads_of_layer = {2, 1, 2};
  EXPECT_NE(error_text([&] { quantize({config, 20}); }).find("pruned_heads"), std::string::npos);
}

TEST(QuantizeFamily, BlobsOfOtherMembersAreNotCompared) {
  const RandomBert encoder(one_stack(small_stack()), 20), decoder(one_stack(small_decoder(0)), 20),
      narrow(one_stack(small_decoder(20)), 20), wide(one_stack(small_decoder(32)), 20),
      pair(pair_of(32, LanguageHeadKind::kLinear), 20);
  const auto blob = [](const RandomBert& bert) { return blob_of(bert, quantize(bert)); };
  expect_refused(encoder, blob(decoder), "is_decoder 0 as in config.json, found 1");
  expect_refused(wide, blob(narrow), "states of size 32 as in config.json, found 20");
  expect_refused(wide, blob(pair), "stacks 1 as in config.json, found 2");
  RandomBert silent = pair;
  silent.config.language_head = LanguageHeadKind::kNone;
  expect_refused(silent, blob(pair), "language heads 0 as in config.json, found 1");
}

void zero(std::vector<float>& values) { std::fill(values.begin(), values.end(), 0.0F); }

void scale(std::vector<float>& values, float factor) {
  for (float& value : values) value *= factor;
}

// Models as pruning, odd checkpoints and broken exports leave them: legal, and int8 must follow the
// float model.
TEST(QuantizeFamily, DeadRelativePositionsAndKeys) {
  ModelConfig config = one_stack(small_stack());
  config.stacks[0].position_kind = PositionKind::kRelativeKeyQuery;
  RandomBert relative(config, 21), keys(config, 22);
  for (convert::LayerWeights& layer : relative.weights.stacks[0].layers) {
    zero(layer.attention.distance_embedding.data);
  }
  EXPECT_GT(agreement(relative).cosine_min, 0.998);
  for (convert::LayerWeights& layer : keys.weights.stacks[0].layers) {
    zero(layer.attention.key.weight.data);  // only relative positions in the scores
    zero(layer.attention.key.bias);
  }
  EXPECT_GT(agreement(keys).cosine_min, 0.998);
}

TEST(QuantizeFamily, DeadCrossAttention) {
  RandomBert bert(language_model(small_decoder(32), LanguageHeadKind::kBert, true), 23);
  convert::AttentionWeights& cross = *bert.weights.stacks[0].layers[1].cross;
  for (convert::Linear* linear : {&cross.query, &cross.key, &cross.value, &cross.out}) {
    zero(linear->weight.data);
    zero(linear->bias);
  }
  EXPECT_GT(agreement(bert).cosine_min, 0.995);
}

TEST(QuantizeFamily, ConstantLogits) {
  RandomBert bert(language_model(small_stack(), LanguageHeadKind::kBert, true), 24);
  zero(bert.weights.language_head->norm.gamma);
  EXPECT_GT(agreement(bert).cosine_min, 0.9999);
  zero(bert.weights.stacks[0].word_embeddings.data);  // only the bias is left
  EXPECT_GT(agreement(bert).cosine_min, 0.9999);
  zero(bert.weights.language_head->bias);
  EXPECT_EQ(agreement(bert).cosine_min, 1);
}

TEST(QuantizeFamily, LargeAndSmallParts) {
  for (const float factor : {1e-3F, 30.0F}) {
    ModelConfig config = one_stack(small_stack());
    config.stacks[0].position_kind = PositionKind::kRelativeKey;
    RandomBert relative(config, 25);
    for (convert::LayerWeights& layer : relative.weights.stacks[0].layers) {
      scale(layer.attention.distance_embedding.data, factor);
    }
    EXPECT_GT(agreement(relative).cosine_min, 0.995) << factor;
  }
  for (const float factor : {1e-4F, 1e3F}) {
    RandomBert untied(language_model(small_stack(), LanguageHeadKind::kBert, false), 26);
    scale(untied.weights.language_head->output_embeddings->data, factor);
    scale(untied.weights.language_head->bias, factor);
    EXPECT_GT(agreement(untied).cosine_min, 0.995) << factor;
  }
}

}  // namespace
}  // namespace embert::test
