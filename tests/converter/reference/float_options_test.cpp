// SPDX-License-Identifier: Apache-2.0
// Compares every option of a stack, every optional input and every task head of the float model
// with the formulas in double precision (float_reference.hpp). Texts of different lengths run side
// by side.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "converter/reference/float_model.hpp"
#include "tests/converter/quantize/random_weights.hpp"
#include "tests/converter/reference/float_reference.hpp"

namespace embert::convert {
namespace {

using test::Random;
using test::ReferenceOutput;
using test::ReferenceText;
using test::Rows;

constexpr double kOptionsTolerance = 5e-5;

struct Variant {
  const char* name;
  void (*change)(StackConfig&);
};

void PrintTo(const Variant& variant, std::ostream* stream) { *stream << variant.name; }

void make_pre(StackConfig& c) {
  c.norm_position = NormPosition::kPre;
  c.embedding_layer_norm = false;
  c.final_layer_norm = true;
}
void make_cross(StackConfig& c, int source_hidden) {
  c.is_decoder = c.cross_attention = true;
  c.cross_hidden_size = source_hidden;
}

constexpr Variant kVariants[] = {
    {"plain", [](StackConfig&) {}},
    {"gelu_new", [](StackConfig& c) { c.hidden_act = HiddenAct::kGeluNew; }},
    {"relu", [](StackConfig& c) { c.hidden_act = HiddenAct::kRelu; }},
    {"silu", [](StackConfig& c) { c.hidden_act = HiddenAct::kSilu; }},
    {"tanh", [](StackConfig& c) { c.hidden_act = HiddenAct::kTanh; }},
    {"odd_sizes",
     [](StackConfig& c) {
       c.hidden_size = 39;
       c.num_attention_heads = 3;
       c.num_heads_of_layer.assign(3, 3);
       c.intermediate_size = 50;
     }},
    {"large_epsilon", [](StackConfig& c) { c.layer_norm_eps = 0.1; }},
    {"relative_key", [](StackConfig& c) { c.position_kind = PositionKind::kRelativeKey; }},
    {"relative_key_query",
     [](StackConfig& c) { c.position_kind = PositionKind::kRelativeKeyQuery; }},
    {"pruned_heads",
     [](StackConfig& c) {
       c.num_heads_of_layer = {1, 2, 1};
     }},
    {"no_embedding_norm", [](StackConfig& c) { c.embedding_layer_norm = false; }},
    {"pre_norm", make_pre},
    {"decoder", [](StackConfig& c) { c.is_decoder = true; }},
    {"relative_decoder",
     [](StackConfig& c) {
       c.is_decoder = true;
       c.position_kind = PositionKind::kRelativeKeyQuery;
     }},
    {"cross_attention", [](StackConfig& c) { make_cross(c, 32); }},
    {"wide_source_relative_key",
     [](StackConfig& c) {
       make_cross(c, 44);
       c.position_kind = PositionKind::kRelativeKey;
     }},
    {"pre_norm_cross_attention", [](StackConfig& c) {
       make_pre(c);
       make_cross(c, 20);
     }}};

StackConfig config_of(const Variant& variant) {
  StackConfig config = test::small_stack();
  variant.change(config);
  return config;
}

Rows random_rows(Random& random, std::size_t rows, int cols) {
  Rows out(rows, std::vector<double>(static_cast<std::size_t>(cols)));
  for (auto& row : out) {
    for (double& x : row) x = static_cast<double>(random.next());
  }
  return out;
}

// About a third of the keys are hidden; one query in eight loses all of them.
std::vector<std::vector<bool>> random_mask(Random& random, std::size_t queries, std::size_t keys) {
  std::vector<std::vector<bool>> hidden(queries, std::vector<bool>(keys));
  for (auto& row : hidden) {
    const bool all = random.below(8) == 0;
    for (std::size_t j = 0; j < keys; ++j) row[j] = all || random.below(3) == 0;
  }
  return hidden;
}

// Texts of five lengths; with `optional` they have every input that a stack can take.
std::vector<ReferenceText> make_texts(const StackConfig& config, bool optional,
                                      std::uint64_t seed) {
  Random random(seed);
  std::vector<ReferenceText> texts;
  for (const std::size_t length : {1U, 7U, 2U, 24U, 13U}) {
    ReferenceText& text = texts.emplace_back();
    for (std::size_t i = 0; i < length; ++i) {
      text.ids.push_back(static_cast<std::int32_t>(random.below(50)));
      text.type_ids.push_back(static_cast<std::int32_t>(random.below(2)));
    }
    const std::size_t source = 1 + random.below(20);
    if (config.cross_attention) text.source = random_rows(random, source, config.cross_hidden_size);
    if (!optional) continue;
    text.ids.clear();
    text.embeddings = random_rows(random, length, config.hidden_size);
    for (std::size_t i = 0; i < length; ++i) {
      text.position_ids.push_back(static_cast<std::int32_t>(random.below(24)));
    }
    text.hidden = random_mask(random, length, length);
    if (config.cross_attention) text.source_hidden = random_mask(random, length, source);
    if (!texts.front().head_mask.empty()) {
      text.head_mask = texts.front().head_mask;
      continue;
    }
    const int heads =
        std::accumulate(config.num_heads_of_layer.begin(), config.num_heads_of_layer.end(), 0);
    for (int h = 0; h < heads; ++h) text.head_mask.push_back(h % 3 == 0 ? 0 : 0.25 * h);
  }
  return texts;
}

void append(const Rows& rows, std::vector<float>& out) {
  for (const auto& row : rows) out.insert(out.end(), row.begin(), row.end());
}
// As a mask: 0 where hidden.
void append(const std::vector<std::vector<bool>>& hidden, std::vector<std::uint8_t>& out) {
  for (const auto& row : hidden) {
    for (const bool h : row) out.push_back(h ? 0 : 1);
  }
}

TokenBatch batch_of(const std::vector<ReferenceText>& texts) {
  TokenBatch batch;
  for (const ReferenceText& text : texts) {
    batch.lengths.push_back(static_cast<std::int32_t>(text.type_ids.size()));
    batch.ids.insert(batch.ids.end(), text.ids.begin(), text.ids.end());
    batch.type_ids.insert(batch.type_ids.end(), text.type_ids.begin(), text.type_ids.end());
    batch.position_ids.insert(batch.position_ids.end(), text.position_ids.begin(),
                              text.position_ids.end());
    append(text.embeddings, batch.inputs_embeds);
    append(text.hidden, batch.query_key_mask);
    batch.head_mask.assign(text.head_mask.begin(), text.head_mask.end());
    if (text.source.empty()) continue;
    batch.source_lengths.push_back(static_cast<std::int32_t>(text.source.size()));
    append(text.source, batch.encoder_states);
    append(text.source_hidden, batch.source_query_key_mask);
  }
  return batch;
}

void expect_near(const std::vector<float>& found, const std::vector<float>& expected,
                 const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(found[i]), static_cast<double>(expected[i]), kOptionsTolerance)
        << what << ", value " << i;
  }
}

ForwardOptions all_outputs() {
  ForwardOptions options;
  options.hidden_states = options.attentions = true;
  return options;
}

class FloatOptions : public ::testing::TestWithParam<Variant> {};

TEST_P(FloatOptions, AgreeWithTheFormulas) {
  ModelConfig config;
  config.stacks = {config_of(GetParam())};
  const ModelWeights weights = test::random_weights(config, 3);
  FloatModel network(config, weights, 2);
  for (const bool optional : {false, true}) {
    const std::vector<ReferenceText> texts = make_texts(config.first(), optional, 4);
    const ForwardOutput found = network.forward(batch_of(texts), nullptr, all_outputs());
    std::vector<float> last;
    std::vector<std::vector<float>> states(4), attentions(3), cross(3);
    for (const ReferenceText& text : texts) {
      const ReferenceOutput out = test::reference_stack(config.first(), weights.stacks[0], text);
      append(out.last_hidden_state, last);
      for (std::size_t l = 0; l < 4; ++l) append(out.hidden_states[l], states[l]);
      for (std::size_t l = 0; l < 3; ++l) {
        for (const Rows& head : out.attentions[l]) append(head, attentions[l]);
        if (out.cross_attentions.empty()) continue;
        for (const Rows& head : out.cross_attentions[l]) append(head, cross[l]);
      }
    }
    const std::string what = optional ? "with all inputs, " : "with ids only, ";
    expect_near(found.last_hidden_state, last, what + "last hidden state");
    ASSERT_EQ(found.hidden_states.size(), 4U);
    ASSERT_EQ(found.attentions.size(), 3U);
    ASSERT_EQ(found.cross_attentions.size(), config.first().cross_attention ? 3U : 0U);
    for (std::size_t l = 0; l < 4; ++l) {
      expect_near(found.hidden_states[l], states[l], what + "state " + std::to_string(l));
    }
    for (std::size_t l = 0; l < 3; ++l) {
      expect_near(found.attentions[l], attentions[l], what + "attention " + std::to_string(l));
      if (cross[l].empty()) continue;
      expect_near(found.cross_attentions[l], cross[l], what + "cross " + std::to_string(l));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, FloatOptions, ::testing::ValuesIn(kVariants),
                         [](const auto& variant) { return std::string(variant.param.name); });

TEST(FloatModelMasks, AKeyMaskIsAMaskForEveryQuery) {
  ModelConfig config;
  config.stacks = {config_of({"", [](StackConfig& c) { make_cross(c, 32); }})};
  const ModelWeights weights = test::random_weights(config, 5);
  FloatModel network(config, weights, 1);
  TokenBatch by_key = batch_of(make_texts(config.first(), false, 6)), by_pair = by_key;
  Random random(7);
  for (std::size_t i = 0; i < by_key.ids.size(); ++i) {
    by_key.key_mask.push_back(random.below(3) == 0 ? 0 : 1);
  }
  std::size_t row = 0, source_row = 0;
  for (const std::int32_t length : by_key.source_lengths) {
    for (std::int32_t j = 0; j < length; ++j) {
      by_key.source_key_mask.push_back(random.below(3) == 0 ? 0 : 1);
    }
  }
  for (std::size_t t = 0; t < by_key.lengths.size(); ++t) {
    const std::int32_t length = by_key.lengths[t], source = by_key.source_lengths[t];
    const auto keys = by_key.key_mask.begin() + static_cast<std::ptrdiff_t>(row);
    const auto sources = by_key.source_key_mask.begin() + static_cast<std::ptrdiff_t>(source_row);
    for (std::int32_t i = 0; i < length; ++i) {
      by_pair.query_key_mask.insert(by_pair.query_key_mask.end(), keys, keys + length);
      by_pair.source_query_key_mask.insert(by_pair.source_query_key_mask.end(), sources,
                                           sources + source);
    }
    row += static_cast<std::size_t>(length);
    source_row += static_cast<std::size_t>(source);
  }
  EXPECT_EQ(network.forward(by_key).last_hidden_state, network.forward(by_pair).last_hidden_state);
  by_pair.source_query_key_mask.clear();
  EXPECT_NE(network.forward(by_key).last_hidden_state, network.forward(by_pair).last_hidden_state);
}

// The rows of `batch` in `values` [rows, width] as double.
Rows to_rows(const std::vector<float>& values, std::size_t width) {
  Rows out;
  for (auto at = values.begin(); at != values.end(); at += static_cast<std::ptrdiff_t>(width)) {
    out.emplace_back(at, at + static_cast<std::ptrdiff_t>(width));
  }
  return out;
}

Rows language_logits(const ModelConfig& config, const ModelWeights& weights, Rows rows) {
  const LanguageHead& head = *weights.language_head;
  if (head.transform) {
    rows = test::reference_linear(rows, *head.transform);
    for (auto& row : rows) {
      for (double& x : row) x = test::reference_act(config.last().hidden_act, x);
    }
    rows = test::reference_norm(rows, head.norm, config.last().layer_norm_eps);
  }
  const Matrix& output =
      head.output_embeddings ? *head.output_embeddings : weights.stacks.back().word_embeddings;
  return test::reference_linear(rows, Linear{output, head.bias});
}

TEST(FloatModelHeads, LanguageHeadOfTheAskedRows) {
  for (const bool tied : {true, false}) {
    ModelConfig config;
    config.stacks = {test::small_stack()};
    config.language_head = LanguageHeadKind::kBert;
    config.tied_output = tied;
    const ModelWeights weights = test::random_weights(config, 8);
    FloatModel network(config, weights, 1);
    const TokenBatch batch = test::random_texts(config.first(), 300, 9);  // more than one chunk
    EXPECT_TRUE(network.forward(batch).lm_logits.empty());
    ForwardOptions options;
    for (std::size_t row = 3; row < batch.ids.size(); row += 29) {
      options.lm_rows.push_back(static_cast<std::int32_t>(row));
    }
    const ForwardOutput out = network.forward(batch, nullptr, options);
    const Rows hidden = to_rows(out.last_hidden_state, 32);
    Rows asked;
    for (const std::int32_t row : options.lm_rows) {
      asked.push_back(hidden[static_cast<std::size_t>(row)]);
    }
    std::vector<float> expected;
    append(language_logits(config, weights, asked), expected);
    expect_near(out.lm_logits, expected, "logits");
  }
}

TEST(FloatModelHeads, TokenLabelsAndClassifier) {
  ModelConfig config;
  config.stacks = {test::small_stack()};
  config.token_classifier = TokenTask::kTokenClassification;
  config.label_names = {"O", "B", "I"};
  const ModelWeights weights = test::random_weights(config, 10);
  const TokenBatch batch = test::random_texts(config.first(), 5, 11);
  const ForwardOutput out = FloatModel(config, weights, 1).forward(batch);
  std::vector<float> expected;
  append(test::reference_linear(to_rows(out.last_hidden_state, 32), *weights.token_classifier),
         expected);
  expect_near(out.token_logits, expected, "token logits");
  EXPECT_TRUE(out.logits.empty());

  config.token_classifier = TokenTask::kNone;
  config.classifier = ClassifierTask::kNextSentence;
  config.label_names = {"is_next", "not_next"};
  const ModelWeights classifies = test::random_weights(config, 12);
  const ForwardOutput pooled = FloatModel(config, classifies, 1).forward(batch);
  const Rows hidden = to_rows(pooled.last_hidden_state, 32);
  Rows firsts;
  std::size_t row = 0;
  for (const std::int32_t length : batch.lengths) {
    firsts.push_back(hidden[row]);
    row += static_cast<std::size_t>(length);
  }
  firsts = test::reference_linear(firsts, classifies.pooler->dense);
  for (auto& first : firsts) {
    for (double& x : first) x = std::tanh(x);
  }
  expected.clear();
  append(firsts, expected);
  expect_near(pooled.pooled, expected, "pooled");
  expected.clear();
  append(test::reference_linear(firsts, *classifies.classifier), expected);
  expect_near(pooled.logits, expected, "logits");
}

TEST(FloatModelPairs, AgreeWithTheFormulas) {
  for (const int decoder_hidden : {32, 48}) {  // without and with a projection
    ModelConfig config;
    config.stacks.assign(2, test::small_stack());
    StackConfig& decoder = config.stacks[1];
    decoder.hidden_size = decoder_hidden;
    decoder.vocab_size = 40;
    make_cross(decoder, decoder_hidden);
    config.language_head = LanguageHeadKind::kLinear;
    config.tied_output = false;
    const ModelWeights weights = test::random_weights(config, 13);
    ASSERT_EQ(weights.projection.has_value(), decoder_hidden == 48);

    std::vector<ReferenceText> sources = make_texts(config.first(), false, 14);
    std::vector<ReferenceText> targets = make_texts(config.first(), false, 15);
    std::vector<float> encoded, logits;
    TokenBatch source_batch = batch_of(sources);
    for (std::size_t t = 0; t < sources.size(); ++t) {
      // The last token of every source is hidden, unless it is the only one.
      const std::size_t length = sources[t].ids.size();
      std::vector<bool> hidden(length);
      hidden[length - 1] = length > 1;
      sources[t].hidden.assign(length, hidden);
      for (const bool h : hidden) source_batch.key_mask.push_back(h ? 0 : 1);
      for (std::int32_t& id : targets[t].ids) id %= 40;
      const Rows states =
          test::reference_stack(config.first(), weights.stacks[0], sources[t]).last_hidden_state;
      append(states, encoded);
      targets[t].source =
          weights.projection ? test::reference_linear(states, *weights.projection) : states;
      targets[t].source_hidden.assign(targets[t].ids.size(), hidden);
      const Rows decoded =
          test::reference_stack(decoder, weights.stacks[1], targets[t]).last_hidden_state;
      append(language_logits(config, weights, decoded), logits);
    }
    TokenBatch target_batch = batch_of(targets);
    target_batch.encoder_states.clear();
    target_batch.source_lengths.clear();
    target_batch.source_query_key_mask.clear();
    ForwardOptions options;
    options.lm_rows.resize(target_batch.ids.size());
    std::iota(options.lm_rows.begin(), options.lm_rows.end(), 0);
    FloatModel network(config, weights, 1);
    const auto found = network.forward_pair(source_batch, target_batch, nullptr, options);
    expect_near(found.encoder.last_hidden_state, encoded, "encoder");
    expect_near(found.decoder.lm_logits, logits, "logits");
  }
}

}  // namespace
}  // namespace embert::convert
