// SPDX-License-Identifier: Apache-2.0
// Poolings and Dense modules in floating point against sentence-transformers
// (tests/data/sentence-transformers/make_vectors.py).
#include "converter/reference/float_vector.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace embert::convert {
namespace {

const std::map<std::string, PoolingKind> kKinds = {
    {"cls", PoolingKind::kCls},
    {"max", PoolingKind::kMax},
    {"mean", PoolingKind::kMean},
    {"mean_sqrt_len_tokens", PoolingKind::kMeanSqrtLength},
    {"weightedmean", PoolingKind::kWeightedMean},
    {"lasttoken", PoolingKind::kLastToken}};
const std::map<std::string, std::optional<HiddenAct>> kActivations = {{"Tanh", HiddenAct::kTanh},
                                                                      {"Identity", std::nullopt},
                                                                      {"ReLU", HiddenAct::kRelu},
                                                                      {"GELU", HiddenAct::kGelu},
                                                                      {"SiLU", HiddenAct::kSilu}};

void expect_near(const VectorRows& found, const nlohmann::json& expected, const std::string& name) {
  ASSERT_EQ(found.values.size(), expected.size()) << name;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(found.values[i], expected[i].get<double>(), 2e-6) << name << " " << i;
  }
}

TEST(FloatVector, IsThatOfSentenceTransformers) {
  std::ifstream file(EMBERT_SOURCE_DIR "/tests/data/sentence-transformers/vectors.json");
  const nlohmann::json golden = nlohmann::json::parse(file);
  const auto hidden = golden["hidden"].get<std::size_t>();
  const auto states = golden["states"].get<std::vector<float>>();
  const auto lengths = golden["lengths"].get<std::vector<std::int32_t>>();
  std::size_t cases = 0;
  for (const nlohmann::json& one : golden["cases"]) {
    PoolingConfig pooling;
    pooling.kinds.clear();
    for (const std::string name : one["poolings"]) pooling.kinds.push_back(kKinds.at(name));
    const std::string name = one["poolings"].dump() + " " + one["activation"].dump();
    VectorDense dense;
    dense.activation = kActivations.at(one["activation"]);
    dense.normalize_input = one["normalize_input"];
    dense.linear.bias = one["bias"].get<std::vector<float>>();
    dense.linear.weight = {dense.linear.bias.size(), pooling.kinds.size() * hidden,
                           one["weight"].get<std::vector<float>>()};
    pooling.dense.push_back(dense);
    expect_near(pool_float(pooling, hidden, states, lengths), one["pooled"], name + " pooled");
    expect_near(float_vectors(pooling, hidden, states, lengths), one["vectors"], name);
    ++cases;
  }
  EXPECT_EQ(cases, 8u);
}

TEST(FloatVector, AVectorOfZerosStays) {
  VectorRows rows{.width = 2, .values = {0, 0, 3, 4}};
  normalize_rows(rows);
  EXPECT_EQ(rows.values, (std::vector<double>{0, 0, 0.6, 0.8}));
}

}  // namespace
}  // namespace embert::convert
