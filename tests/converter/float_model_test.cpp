// SPDX-License-Identifier: Apache-2.0
// The float reference against the formulas written down once more in double precision, and its
// promises: the same bits for any number of threads and any company in the batch, and an observer
// that sees every activation.
#include "converter/float_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "converter/read_model_folder.hpp"
#include "tests/support/error_text.hpp"
#include "tests/support/model_folder.hpp"

namespace embert::convert {
namespace {

using test::error_text;
using test::ModelOptions;
using Rows = std::vector<std::vector<double>>;

Rows linear(const Rows& in, const Linear& layer) {
  Rows out;
  for (const auto& x : in) {
    auto& y = out.emplace_back();
    for (std::size_t n = 0; n < layer.weight.rows; ++n) {
      double sum = static_cast<double>(layer.bias[n]);
      for (std::size_t c = 0; c < x.size(); ++c)
        sum += static_cast<double>(layer.weight.row(n)[c]) * x[c];
      y.push_back(sum);
    }
  }
  return out;
}

Rows add_norm(const Rows& a, const Rows& b, const LayerNorm& norm, double eps) {
  Rows out = a;
  for (std::size_t r = 0; r < a.size(); ++r) {
    const auto size = static_cast<double>(a[r].size());
    double mean = 0, variance = 0;
    for (std::size_t c = 0; c < a[r].size(); ++c)
      mean += (out[r][c] += b.empty() ? 0 : b[r][c]) / size;
    for (const double x : out[r]) variance += (x - mean) * (x - mean) / size;
    for (std::size_t c = 0; c < a[r].size(); ++c) {
      out[r][c] =
          (out[r][c] - mean) / std::sqrt(variance + eps) * static_cast<double>(norm.gamma[c]) +
          static_cast<double>(norm.beta[c]);
    }
  }
  return out;
}

Rows attention(const Rows& q, const Rows& k, const Rows& v, std::size_t heads) {
  const std::size_t size = q[0].size() / heads;
  Rows out(q.size(), std::vector<double>(q[0].size()));
  for (std::size_t i = 0; i < q.size(); ++i) {
    for (std::size_t h = 0; h < heads; ++h) {
      std::vector<double> e;
      double total = 0;
      for (std::size_t j = 0; j < k.size(); ++j) {
        double score = 0;
        for (std::size_t d = h * size; d < (h + 1) * size; ++d) score += q[i][d] * k[j][d];
        total += e.emplace_back(std::exp(score / std::sqrt(static_cast<double>(size))));
      }
      for (std::size_t j = 0; j < k.size(); ++j) {
        for (std::size_t d = h * size; d < (h + 1) * size; ++d) out[i][d] += e[j] / total * v[j][d];
      }
    }
  }
  return out;
}

double act(HiddenAct kind, double x) {
  switch (kind) {
    case HiddenAct::kGelu:
      return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case HiddenAct::kGeluNew:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case HiddenAct::kRelu:
      return std::max(x, 0.0);
    case HiddenAct::kSilu:
      return x / (1 + std::exp(-x));
    case HiddenAct::kTanh:
      return std::tanh(x);
  }
  return 0;
}

// The last hidden state of one text, segment 0 and 1 alternating.
Rows reference(const ModelFolder& model, const std::vector<std::int32_t>& ids) {
  const StackWeights& w = model.weights.stacks[0];
  const BertConfig& config = model.config.first();
  const double eps = config.layer_norm_eps;
  Rows x;
  for (std::size_t p = 0; p < ids.size(); ++p) {
    auto& row = x.emplace_back();
    for (std::size_t c = 0; c < w.word_embeddings.cols; ++c) {
      row.push_back(
          static_cast<double>(w.word_embeddings.row(static_cast<std::size_t>(ids[p]))[c]) +
          static_cast<double>(w.position_embeddings.row(p)[c]) +
          static_cast<double>(w.token_type_embeddings.row(p % 2)[c]));
    }
  }
  x = add_norm(x, {}, *w.layers[0].input_norm, eps);
  for (std::size_t l = 0; l < w.layers.size(); ++l) {
    const LayerWeights& layer = w.layers[l];
    const AttentionWeights& a = layer.attention;
    const Rows context = attention(linear(x, a.query), linear(x, a.key), linear(x, a.value),
                                   static_cast<std::size_t>(config.num_attention_heads));
    const Rows y = add_norm(linear(context, a.output), x, layer.ffn_norm, eps);
    Rows ffn = linear(y, layer.intermediate);
    for (auto& row : ffn) {
      for (double& value : row) value = act(config.hidden_act, value);
    }
    x = add_norm(linear(ffn, layer.output), y,
                 l + 1 < w.layers.size() ? *w.layers[l + 1].input_norm : w.output_norm, eps);
  }
  return x;
}

ModelFolder make(const ModelOptions& options) {
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

TEST(FloatModel, AgreesWithTheFormulas) {
  for (const char* name : {"gelu", "gelu_new", "relu", "silu", "tanh"}) {
    // Sizes that fill no vector register.
    const ModelFolder model =
        make({.hidden = 36, .layers = 3, .heads = 3, .intermediate = 50, .hidden_act = name});
    FloatModel network(model.config, model.weights, 1);
    for (const std::int32_t length : {1, 2, 7, 32}) {
      const TokenBatch batch = make_batch({length}, 96);
      const std::vector<float> found = network.forward(batch).last_hidden_state;
      const Rows expected = reference(model, batch.ids);
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(static_cast<double>(found[i]), expected[i / 36][i % 36], 2e-5)
            << name << ", length " << length << ", value " << i;
      }
    }
  }
}

TEST(FloatModel, SameBitsForAnyNumberOfThreadsAndAnyCompany) {
  const ModelFolder model = make({.hidden = 96, .heads = 4, .intermediate = 200, .labels = 7});
  std::vector<std::int32_t> lengths;
  for (int i = 0; i < 150; ++i) lengths.push_back(1 + i * 11 % 32);  // more than one chunk
  const TokenBatch batch = make_batch(lengths, 96);
  FloatModel one(model.config, model.weights, 1);
  const FloatModel::Output expected = one.forward(batch);
  EXPECT_EQ(expected.last_hidden_state.size(), batch.ids.size() * 96);
  EXPECT_EQ(expected.pooled.size(), lengths.size() * 96);
  EXPECT_EQ(expected.logits.size(), lengths.size() * 7);

  for (const int threads : {2, 3, 8}) {
    FloatModel several(model.config, model.weights, threads);
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

TEST(FloatModel, WithoutTypesAllAreZero) {
  const ModelFolder model = make({});
  FloatModel network(model.config, model.weights, 1);
  TokenBatch batch = make_batch({3, 5}, 96);
  batch.type_ids.assign(8, 0);
  const auto zeros = network.forward(batch).last_hidden_state;
  batch.type_ids.clear();
  EXPECT_TRUE(same_bits(network.forward(batch).last_hidden_state, zeros));
  EXPECT_TRUE(network.forward({}).last_hidden_state.empty());
}

TEST(FloatModel, ObserverSeesEveryActivationInOrder) {
  const ModelFolder model = make({.labels = 3});
  FloatModel network(model.config, model.weights, 2);
  const TokenBatch batch = make_batch({4, 1, 6}, 96);
  using Point = ActivationPoint;
  std::vector<std::pair<Point, int>> seen;
  std::vector<float> gate, activated, last, logits;
  const Observer observer = [&](const Activation& a) {
    seen.emplace_back(a.point, a.layer);
    const bool inner = a.point == Point::kFfnPreactivation || a.point == Point::kFfnActivated;
    const bool of_texts = a.point == Point::kPooled || a.point == Point::kLogits;
    EXPECT_EQ(a.rows, of_texts ? 3U : 11U);
    EXPECT_EQ(a.cols, inner ? 64U : a.point == Point::kLogits ? 3U : 32U);
    EXPECT_EQ(std::vector<std::int32_t>(a.lengths.begin(), a.lengths.end()), batch.lengths);
    const std::vector<float> values(a.data, a.data + a.rows * a.cols);
    if (a.point == Point::kFfnPreactivation) gate = values;
    if (a.point == Point::kFfnActivated) activated = values;
    if (a.point == Point::kLastHidden) last = values;
    if (a.point == Point::kLogits) logits = values;
  };
  const FloatModel::Output out = network.forward(batch, &observer);

  std::vector<std::pair<Point, int>> expected = {{Point::kEmbeddingSum, 0}};
  for (const int layer : {0, 1}) {
    for (const Point point : {Point::kLayerInput, Point::kQuery, Point::kKey, Point::kValue,
                              Point::kContext, Point::kAttentionSum, Point::kFfnInput,
                              Point::kFfnPreactivation, Point::kFfnActivated, Point::kOutputSum}) {
      expected.emplace_back(point, layer);
    }
  }
  for (const Point point : {Point::kLastHidden, Point::kPooled, Point::kLogits})
    expected.emplace_back(point, 2);
  EXPECT_EQ(seen, expected);
  EXPECT_TRUE(same_bits(last, out.last_hidden_state));
  EXPECT_TRUE(same_bits(logits, out.logits));
  for (std::size_t i = 0; i < gate.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(activated[i]),
                act(HiddenAct::kGelu, static_cast<double>(gate[i])), 1e-6);
  }
}

TEST(FloatModel, ChunksCoverTheBatch) {
  const ModelFolder model = make({.layers = 1});
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
  const ModelFolder model = make({});
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

}  // namespace
}  // namespace embert::convert
