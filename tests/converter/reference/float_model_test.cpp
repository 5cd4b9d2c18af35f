// SPDX-License-Identifier: Apache-2.0
// The float model's promises apart from its values: a text's bits depend neither on the number of
// threads nor on the other texts of the batch, an observer sees every activation, and inputs that
// do not fit are errors. float_options_test.cpp and float_golden_test.cpp test the values.
#include "converter/reference/float_model.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "converter/import/read_model_folder.hpp"
#include "tests/converter/quantize/random_weights.hpp"
#include "tests/converter/reference/float_reference.hpp"
#include "tests/support/error_text.hpp"
#include "tests/support/model_folder.hpp"

namespace embert::convert {
namespace {

using test::error_text;
using test::ModelOptions;

ModelFolder make_folder(const ModelOptions& options) {
  const test::TempFolder folder;
  test::write_model_folder(folder.path(), options);
  return read_model_folder(folder.path());
}

// Texts of these lengths with ids and segments that differ.
TokenBatch make_batch(const std::vector<std::int32_t>& lengths, int vocab) {
  TokenBatch batch;
  batch.lengths = lengths;
  for (const std::int32_t length : lengths) {
    for (std::int32_t p = 0; p < length; ++p) {
      batch.ids.push_back(static_cast<std::int32_t>(batch.ids.size()) * 37 % vocab);
      batch.type_ids.push_back(p % 2);
    }
  }
  return batch;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class FloatProductsTest : public ::testing::TestWithParam<FloatProducts> {};
INSTANTIATE_TEST_SUITE_P(FloatModel, FloatProductsTest,
                         ::testing::Values(FloatProducts::kSameEverywhere,
                                           FloatProducts::kXnnpack));

TEST_P(FloatProductsTest, SameBitsForAnyNumberOfThreadsAndAnyBatch) {
  const ModelFolder model =
      make_folder({.hidden = 96, .heads = 4, .intermediate = 200, .labels = 7});
  std::vector<std::int32_t> lengths;
  for (int i = 0; i < 150; ++i) lengths.push_back(1 + i * 11 % 32);  // more than one chunk
  const TokenBatch batch = make_batch(lengths, 96);
  FloatModel one(model.config, model.weights, 1, GetParam());
  const FloatModel::Output expected = one.forward(batch);
  EXPECT_EQ(expected.last_hidden_state.size(), batch.ids.size() * 96);
  EXPECT_EQ(expected.pooled.size(), lengths.size() * 96);
  EXPECT_EQ(expected.logits.size(), lengths.size() * 7);

  for (const int threads : {2, 3, 8}) {
    FloatModel several(model.config, model.weights, threads, GetParam());
    const FloatModel::Output found = several.forward(batch);
    EXPECT_TRUE(same_bits(found.last_hidden_state, expected.last_hidden_state)) << threads;
    EXPECT_TRUE(same_bits(found.pooled, expected.pooled)) << threads;
    EXPECT_TRUE(same_bits(found.logits, expected.logits)) << threads;
  }

  auto token = batch.ids.begin();
  auto type = batch.type_ids.begin();
  auto row = expected.last_hidden_state.begin();
  auto scores = expected.logits.begin();
  for (std::size_t text = 0; text < lengths.size(); ++text) {
    const std::int32_t length = lengths[text];
    const FloatModel::Output alone =
        one.forward({{token, token + length}, {type, type + length}, {length}});
    EXPECT_TRUE(same_bits(alone.last_hidden_state, {row, row + length * 96})) << text;
    EXPECT_TRUE(same_bits(alone.logits, {scores, scores + 7})) << text;
    token += length;
    type += length;
    row += length * 96;
    scores += 7;
  }
}

TEST(FloatModel, XnnpackGivesNearlyTheSame) {
  const ModelFolder model = make_folder({.hidden = 96, .heads = 4, .intermediate = 200});
  const TokenBatch batch = make_batch({20, 1, 32}, 96);
  const auto hidden = [&](FloatProducts products) {
    return FloatModel(model.config, model.weights, 1, products).forward(batch).last_hidden_state;
  };
  const std::vector<float> a = hidden(FloatProducts::kSameEverywhere),
                           b = hidden(FloatProducts::kXnnpack);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5) << i;
}

TEST(FloatModel, WithoutTypesAllAreZero) {
  const ModelFolder model = make_folder({});
  FloatModel network(model.config, model.weights, 1);
  TokenBatch batch = make_batch({3, 5}, 96);
  batch.type_ids.assign(8, 0);
  const auto zeros = network.forward(batch).last_hidden_state;
  batch.type_ids.clear();
  EXPECT_TRUE(same_bits(network.forward(batch).last_hidden_state, zeros));
  EXPECT_TRUE(network.forward({}).last_hidden_state.empty());
}

TEST(FloatModel, ObserverSeesEveryActivationInOrder) {
  const ModelFolder model = make_folder({.labels = 3});
  FloatModel network(model.config, model.weights, 2);
  const TokenBatch batch = make_batch({4, 1, 6}, 96);
  using Point = ActivationPoint;
  std::vector<std::pair<Point, int>> seen;
  std::vector<float> preactivation, activated, last, logits;
  const Observer observer = [&](const Activation& a) {
    seen.emplace_back(a.point, a.layer);
    const bool inner = a.point == Point::kFfnPreactivation || a.point == Point::kFfnActivated;
    const bool of_texts = a.point == Point::kPoolerInput || a.point == Point::kPoolerSum ||
                          a.point == Point::kPooled || a.point == Point::kLogits;
    EXPECT_EQ(a.rows, of_texts ? 3U : 11U);
    EXPECT_EQ(a.cols, inner ? 64U : a.point == Point::kLogits ? 3U : 32U);
    EXPECT_EQ(std::vector<std::int32_t>(a.lengths.begin(), a.lengths.end()), batch.lengths);
    const std::vector<float> values(a.data, a.data + a.rows * a.cols);
    if (a.point == Point::kFfnPreactivation) preactivation = values;
    if (a.point == Point::kFfnActivated) activated = values;
    if (a.point == Point::kLastHidden) last = values;
    if (a.point == Point::kLogits) logits = values;
  };
  const FloatModel::Output out = network.forward(batch, &observer);

  std::vector<std::pair<Point, int>> expected = {{Point::kEmbeddingSum, 0}};
  for (const int layer : {0, 1}) {
    for (const Point point : {Point::kLayerInput, Point::kQuery, Point::kKey, Point::kValue,
                              Point::kContext, Point::kAttentionSum, Point::kFfnInput,
                              Point::kFfnPreactivation, Point::kFfnActivated, Point::kFfnSum}) {
      expected.emplace_back(point, layer);
    }
  }
  for (const Point point :
       {Point::kLastHidden, Point::kPoolerInput, Point::kPoolerSum, Point::kPooled, Point::kLogits})
    expected.emplace_back(point, 2);
  EXPECT_EQ(seen, expected);
  EXPECT_TRUE(same_bits(last, out.last_hidden_state));
  EXPECT_TRUE(same_bits(logits, out.logits));
  for (std::size_t i = 0; i < preactivation.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(activated[i]),
                test::reference_act(HiddenAct::kGelu, static_cast<double>(preactivation[i])), 1e-6);
  }
}

TEST(FloatModel, ObserverSeesBothStacksOfAPair) {
  ModelConfig config;
  config.stacks.assign(2, test::small_stack());
  for (StackConfig& stack : config.stacks) {
    stack.num_hidden_layers = 1;
    stack.num_heads_of_layer = {1};
  }
  StackConfig& decoder = config.stacks[1];
  decoder.hidden_size = decoder.cross_hidden_size = 48;
  decoder.is_decoder = decoder.cross_attention = true;
  config.language_head = LanguageHeadKind::kBert;
  FloatModel network(config, test::random_weights(config, 1), 1);
  const TokenBatch source = make_batch({4, 6}, 50), target = make_batch({3, 2}, 50);
  ForwardOptions options;
  options.lm_rows = {1, 4};

  struct Seen {
    ActivationPoint point;
    int stack, layer;
    std::pair<std::size_t, std::size_t> shape;
    std::vector<std::int32_t> lengths;
    bool operator==(const Seen&) const = default;
  };
  std::vector<Seen> seen;
  const Observer observer = [&](const Activation& a) {
    seen.push_back(
        {a.point, a.stack, a.layer, {a.rows, a.cols}, {a.lengths.begin(), a.lengths.end()}});
  };
  network.forward_pair(source, target, &observer, options);
  using Point = ActivationPoint;
  const std::vector<std::int32_t> of_source = {4, 6}, of_target = {3, 2};
  const std::vector<Seen> expected = {{Point::kEmbeddingSum, 0, 0, {10, 32}, of_source},
                                      {Point::kLayerInput, 0, 0, {10, 32}, of_source},
                                      {Point::kQuery, 0, 0, {10, 16}, of_source},
                                      {Point::kKey, 0, 0, {10, 16}, of_source},
                                      {Point::kValue, 0, 0, {10, 16}, of_source},
                                      {Point::kContext, 0, 0, {10, 16}, of_source},
                                      {Point::kAttentionSum, 0, 0, {10, 32}, of_source},
                                      {Point::kFfnInput, 0, 0, {10, 32}, of_source},
                                      {Point::kFfnPreactivation, 0, 0, {10, 64}, of_source},
                                      {Point::kFfnActivated, 0, 0, {10, 64}, of_source},
                                      {Point::kFfnSum, 0, 0, {10, 32}, of_source},
                                      {Point::kLastHidden, 0, 1, {10, 32}, of_source},
                                      {Point::kProjected, 0, 1, {10, 48}, of_source},
                                      {Point::kEmbeddingSum, 1, 0, {5, 48}, of_target},
                                      {Point::kCrossStates, 1, 0, {10, 48}, of_source},
                                      {Point::kLayerInput, 1, 0, {5, 48}, of_target},
                                      {Point::kQuery, 1, 0, {5, 24}, of_target},
                                      {Point::kKey, 1, 0, {5, 24}, of_target},
                                      {Point::kValue, 1, 0, {5, 24}, of_target},
                                      {Point::kContext, 1, 0, {5, 24}, of_target},
                                      {Point::kAttentionSum, 1, 0, {5, 48}, of_target},
                                      {Point::kCrossInput, 1, 0, {5, 48}, of_target},
                                      {Point::kCrossQuery, 1, 0, {5, 48}, of_target},
                                      {Point::kCrossKey, 1, 0, {10, 48}, of_source},
                                      {Point::kCrossValue, 1, 0, {10, 48}, of_source},
                                      {Point::kCrossContext, 1, 0, {5, 48}, of_target},
                                      {Point::kCrossSum, 1, 0, {5, 48}, of_target},
                                      {Point::kFfnInput, 1, 0, {5, 48}, of_target},
                                      {Point::kFfnPreactivation, 1, 0, {5, 64}, of_target},
                                      {Point::kFfnActivated, 1, 0, {5, 64}, of_target},
                                      {Point::kFfnSum, 1, 0, {5, 48}, of_target},
                                      {Point::kLastHidden, 1, 1, {5, 48}, of_target},
                                      {Point::kLmInput, 1, 1, {2, 48}, of_target},
                                      {Point::kLmTransform, 1, 1, {2, 48}, of_target},
                                      {Point::kLmActivated, 1, 1, {2, 48}, of_target},
                                      {Point::kLmNormed, 1, 1, {2, 48}, of_target},
                                      {Point::kLmLogits, 1, 1, {2, 50}, of_target}};
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_TRUE(seen[i] == expected[i]) << i;
}

TEST(FloatModel, ChunksCoverTheBatch) {
  const ModelFolder model = make_folder({.layers = 1});
  FloatModel network(model.config, model.weights, 1);
  const TokenBatch batch = make_batch(std::vector<std::int32_t>(200, 32), 96);
  std::size_t texts = 0, chunks = 0;
  const Observer observer = [&](const Activation& a) {
    if (a.point != ActivationPoint::kLastHidden) return;
    texts += a.lengths.size();
    ++chunks;
  };
  network.forward(batch, &observer);
  EXPECT_EQ(texts, 200U);
  EXPECT_GT(chunks, 1U);
}

TEST(FloatModel, RefusesInputOutOfRange) {
  const ModelFolder model = make_folder({});
  FloatModel network(model.config, model.weights, 1);
  const auto error = [&](const TokenBatch& batch) {
    return error_text([&] { network.forward(batch); });
  };
  EXPECT_EQ(error({{1, 96}, {}, {2}}), "token id 96 at 1 is outside 0..95");
  EXPECT_EQ(error({{-1}, {}, {1}}), "token id -1 at 0 is outside 0..95");
  EXPECT_EQ(error({{1}, {2}, {1}}), "token type id 2 at 0 is outside 0..1");
  EXPECT_EQ(error({{}, {}, {0}}), "a text of 0 tokens; the model takes 1 to 32");
  EXPECT_EQ(error({std::vector<std::int32_t>(33), {}, {33}}),
            "a text of 33 tokens; the model takes 1 to 32");
  EXPECT_EQ(error({{1, 2}, {}, {1}}), "the lengths of a batch add up to 1, but it has 2 ids");
  EXPECT_EQ(error({{1, 2}, {0}, {2}}), "a batch has 1 values of type_ids, expected 2");
}

TEST(FloatModel, RefusesOptionalInputsThatDoNotFit) {
  ModelConfig config;
  config.stacks = {test::small_stack()};
  FloatModel network(config, test::random_weights(config, 1), 1);
  const TokenBatch sound = make_batch({3, 2}, 50);
  const auto error = [&](auto change, const ForwardOptions& options = {}) {
    TokenBatch batch = sound;
    change(batch);
    return error_text([&] { network.forward(batch, nullptr, options); });
  };
  using Batch = TokenBatch&;
  EXPECT_EQ(error([](Batch) {}), "no error");
  EXPECT_EQ(error([](Batch b) { b.inputs_embeds.resize(5 * 32); }),
            "a batch has ids or inputs_embeds, not both");
  EXPECT_EQ(error([](Batch b) {
              b.ids.clear();
              b.inputs_embeds.resize(5 * 31);
            }),
            "a batch has 155 values of inputs_embeds, expected 160");
  EXPECT_EQ(error([](Batch b) {
              b.position_ids = {0, 1, 2};
            }),
            "a batch has 3 values of position_ids, expected 5");
  EXPECT_EQ(error([](Batch b) {
              b.position_ids = {0, 1, 2, 24, 0};
            }),
            "position id 24 at 3 is outside 0..23");
  EXPECT_EQ(error([](Batch b) { b.key_mask.resize(6); }),
            "a batch has 6 values of key_mask, expected 5");
  EXPECT_EQ(error([](Batch b) { b.query_key_mask.resize(25); }),
            "a batch has 25 values of query_key_mask, expected 13");
  EXPECT_EQ(error([](Batch b) { b.head_mask.resize(2); }),
            "a batch has 2 values of head_mask, expected 6");
  EXPECT_EQ(error([](Batch b) { b.encoder_states.resize(32); }),
            "a batch has encoder states, but the model has no cross-attention");
  EXPECT_EQ(error([](Batch) {}, {.lm_rows = {0}}), "the model has no language head");
  EXPECT_EQ(error_text([&] { network.forward_pair(sound, sound); }),
            "a model of one stack takes texts alone");
}

TEST(FloatModel, RefusesSourcesThatDoNotFit) {
  ModelConfig config;
  config.stacks = {test::small_stack()};
  config.stacks[0].is_decoder = config.stacks[0].cross_attention = true;
  config.stacks[0].cross_hidden_size = 20;
  config.language_head = LanguageHeadKind::kBert;
  FloatModel network(config, test::random_weights(config, 1), 1);
  TokenBatch sound = make_batch({3, 2}, 50);
  sound.source_lengths = {1, 4};
  sound.encoder_states.resize(5 * 20);
  const auto error = [&](auto change, const ForwardOptions& options = {}) {
    TokenBatch batch = sound;
    change(batch);
    return error_text([&] { network.forward(batch, nullptr, options); });
  };
  using Batch = TokenBatch&;
  EXPECT_EQ(error([](Batch) {}, {.lm_rows = {0, 4}}), "no error");
  EXPECT_EQ(error([](Batch b) { b.source_lengths.pop_back(); }),
            "cross-attention needs a source for each of 2 texts; the batch has 1");
  EXPECT_EQ(error([](Batch b) {
              b.source_lengths = {0, 5};
            }),
            "a source of 0 tokens; the model takes 1 to 512");
  EXPECT_EQ(error([](Batch b) { b.encoder_states.pop_back(); }),
            "a batch has 99 values of encoder_states, expected 100");
  EXPECT_EQ(error([](Batch b) { b.source_key_mask.resize(4); }),
            "a batch has 4 values of source_key_mask, expected 5");
  EXPECT_EQ(error([](Batch b) { b.source_query_key_mask.resize(12); }),
            "a batch has 12 values of source_query_key_mask, expected 11");
  for (const std::vector<std::int32_t>& rows :
       {std::vector<std::int32_t>{0, 5}, {-1}, {2, 2}, {3, 1}}) {
    EXPECT_EQ(error([](Batch) {}, {.lm_rows = rows}),
              "row " + std::to_string(rows.back()) +
                  " of the language head is not in rising order within the 5 tokens of the batch");
  }
}

}  // namespace
}  // namespace embert::convert
