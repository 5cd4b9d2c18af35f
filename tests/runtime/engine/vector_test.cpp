// SPDX-License-Identifier: Apache-2.0
// Vectors of several poolings and dense layers behind pooling, against the same formulas in double
// on the integer hidden states; and records that the validator must refuse.
#include <cmath>
#include <cstring>
#include <functional>

#include "embert/embert_inspect.h"
#include "embert/embert_run.h"
#include "kernels/arithmetic/pack.hpp"
#include "tests/runtime/engine/engine_session.hpp"
#include "tests/support/random.hpp"

namespace embert::test {
namespace {

constexpr std::uint32_t kHidden = 64;
constexpr std::uint32_t kScale = 0x39800000;  // 2^-12, that of the synthetic model's hidden states

/// One dense layer with weights of its own; the factor behind its sums is 2^-7.
struct TestDense {
  std::uint32_t outputs, activation;
  std::int32_t exponent;
  bool normalize_input;
  std::vector<std::int8_t> weights{};  // [outputs][inputs]
  std::vector<std::int32_t> bias{};
};

struct TestVector {
  std::vector<std::uint32_t> poolings;
  std::vector<TestDense> dense;
  bool normalize;
};

std::uint32_t float_bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

BlobVector make_record(const TestVector& test) {
  BlobVector record = {};
  record.num_poolings = static_cast<std::uint32_t>(test.poolings.size());
  std::copy(test.poolings.begin(), test.poolings.end(), record.poolings);
  record.vector_size = record.num_poolings * kHidden;
  record.pooled_scale = float_bits(1.0f / 1024);  // hidden scale 2^-12, pooled 2^-16: factor 2^-6
  record.pooled_multiplier = 1 << 30;
  record.pooled_shift = 36;
  for (const TestDense& dense : test.dense) {
    record.vector_size = dense.outputs;
    record.dense[record.num_dense++] = {.outputs = dense.outputs,
                                        .activation = dense.activation,
                                        .exponent = dense.exponent,
                                        .scale = kScale,
                                        .normalize_input = dense.normalize_input ? 1u : 0u,
                                        .reserved = 0,
                                        .dense = {{0, 6}, 0, 0}};
  }
  return record;
}

template <typename T>
void append(std::vector<std::uint8_t>& bytes, const std::vector<T>& values) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(values.data());
  bytes.insert(bytes.end(), first, first + values.size() * sizeof(T));
}

std::vector<std::uint8_t> section_bytes(TestVector& test) {
  const BlobVector record = make_record(test);
  std::vector<std::uint8_t> bytes(sizeof(record));
  std::memcpy(bytes.data(), &record, sizeof(record));
  std::size_t inputs = test.poolings.size() * kHidden;
  Random random(5);
  for (TestDense& dense : test.dense) {
    const std::size_t columns = pad_columns(dense.outputs);
    std::vector<std::int8_t> rows(columns * inputs);
    for (std::size_t i = 0; i < dense.outputs * inputs; ++i) {
      rows[i] = static_cast<std::int8_t>(random.uniform(-127, 127));
    }
    dense.weights = rows;
    dense.bias.resize(columns);
    for (std::size_t i = 0; i < dense.outputs; ++i) {
      dense.bias[i] = static_cast<std::int32_t>(random.uniform(-100000, 100000));
    }
    std::vector<std::int8_t> packed(columns * pad_inputs(inputs));
    pack_rhs(RhsOrder::kN16K4, rows.data(), columns, inputs, packed.data());
    std::vector<std::int32_t> sums(columns);
    column_sums(rows.data(), columns, inputs, sums.data());
    append(bytes, packed);
    append(bytes, dense.bias);
    append(bytes, sums);
    append(bytes, std::vector<std::int32_t>(columns, 1 << 30));
    inputs = dense.outputs;
  }
  return bytes;
}

SyntheticModel shape_of(TestVector& test) {
  SyntheticModel shape;
  shape.normalize = test.normalize ? 1 : 0;
  shape.heads = kHeadVector;
  shape.optional = {{kSectionVector, section_bytes(test)}};
  return shape;
}

double activated(const TestDense& dense, double sum) {
  const double y = std::max(-32767.0, std::min(32767.0, sum)), x = y / 4096;
  switch (dense.activation) {
    case kActivationTanh:
      return std::tanh(x) * 28672;
    case kActivationRelu:
      return std::max(y, 0.0);
    case kActivationGelu:
      return std::ldexp(x * 4096 * 0.5 * (1 + std::erf(x / std::sqrt(2.0))), dense.exponent - 12);
    default:
      return y;
  }
}

void to_unit(std::vector<double>& values) {
  double squares = 0;
  for (double value : values) squares += value * value;
  for (double& value : values) value *= 32768 / std::sqrt(squares);
}

std::vector<double> expected_vector(const TestVector& test, const std::int16_t* rows,
                                    std::size_t length) {
  std::vector<double> values;
  for (std::uint32_t pooling : test.poolings) {
    for (std::size_t c = 0; c < kHidden; ++c) {
      double sum = 0, weighted = 0, highest = -1e9;
      for (std::size_t i = 0; i < length; ++i) {
        const double value = rows[i * kHidden + c];
        sum += value;
        weighted += value * static_cast<double>(i + 1);
        highest = std::max(highest, value);
      }
      const double n = static_cast<double>(length);
      const double first = rows[c], last = rows[(length - 1) * kHidden + c];
      // In the order of BlobPooling.
      const double all[] = {
          sum / n, first, highest, sum / std::sqrt(n), weighted * 2 / (n * (n + 1)), last};
      values.push_back(all[pooling] / 4);
    }
  }
  for (std::size_t i = 0; i < test.dense.size(); ++i) {
    const TestDense& dense = test.dense[i];
    if (dense.normalize_input) to_unit(values);
    std::vector<double> outputs;
    for (std::size_t n = 0; n < dense.outputs; ++n) {
      double sum = dense.bias[n];
      for (std::size_t c = 0; c < values.size(); ++c) {
        sum += values[c] * dense.weights[n * values.size() + c];
      }
      outputs.push_back(activated(dense, sum / 128));
    }
    values = outputs;
  }
  if (test.normalize) to_unit(values);
  return values;
}

class Vector : public ::testing::Test {
 protected:
  void check(TestVector test, double tolerance) {
    const SyntheticModel shape = shape_of(test);
    const AlignedBytes blob(make_synthetic_blob(shape));
    const embert_model model = open_model(blob, embert_isa_detect());
    const Texts texts(shape, {1, 7, 64}, 3);
    embert_options options = embert_options_default(&model);
    options.max_batch = 3;
    AlignedBytes arena(0);
    embert_engine* engine = make_engine(model, options, arena);
    ASSERT_NE(engine, nullptr);
    const embert_input input = texts.input();
    const std::int16_t* rows = nullptr;
    ASSERT_EQ(embert_last_hidden_state(engine, &input, &rows, nullptr), EMBERT_STATUS_OK);
    const std::vector<std::int16_t> hidden(rows, rows + texts.ids.size() * kHidden);
    const std::size_t size = embert_vector_size(&model);
    ASSERT_EQ(size,
              test.dense.empty() ? test.poolings.size() * kHidden : test.dense.back().outputs);
    std::vector<std::int16_t> vectors(3 * size);
    embert_scale scale = {};
    ASSERT_EQ(embert_embed(engine, &input, EMBERT_POOLING_MODEL, vectors.data(), &scale),
              EMBERT_STATUS_OK);
    const float plain = test.dense.empty() ? 1.0f / 1024 : 1.0f / 4096;
    EXPECT_EQ(embert_scale_to_float(scale), test.normalize ? 1.0f / 32768 : plain);
    EXPECT_EQ(embert_embed(engine, &input, EMBERT_POOLING_MEAN, vectors.data(), nullptr),
              EMBERT_STATUS_INVALID_OPTION);
    const std::int16_t* at = hidden.data();
    for (std::size_t text = 0; text < 3; ++text) {
      const std::vector<double> expected = expected_vector(test, at, texts.lengths[text]);
      for (std::size_t c = 0; c < size; ++c) {
        const double bounded = std::max(-32767.0, std::min(32767.0, expected[c]));
        EXPECT_NEAR(vectors[text * size + c], bounded, tolerance) << text << " " << c;
      }
      at += texts.lengths[text] * kHidden;
    }
  }
};

TEST_F(Vector, EachPooling) {
  for (std::uint32_t pooling = 0; pooling < kVectorPoolingCount; ++pooling) {
    for (const bool normalize : {false, true}) check({{pooling}, {}, normalize}, 0.6);
  }
}

TEST_F(Vector, PoolingsSideBySide) {
  for (const bool normalize : {false, true}) {
    check({{kPoolingCls, kPoolingMax, kPoolingMean}, {}, normalize}, 0.6);
    check({{5, 4, 3, 2, 1, 0}, {}, normalize}, 0.6);
  }
}

TEST_F(Vector, DenseLayers) {
  const TestDense plain{40, kVectorActivationNone, 0, false},
      unit{100, kVectorActivationNone, 0, true};
  const TestDense tanh{48, kActivationTanh, 12, true}, relu{33, kActivationRelu, 0, true},
      gelu{20, kActivationGelu, 12, true};
  check({{kPoolingMean}, {plain}, false}, 60);  // rounding of pooled values times 64 weights / 128
  check({{kPoolingMean}, {unit}, false}, 8);
  check({{kPoolingMean, kPoolingCls}, {unit}, true}, 12);
  check({{kPoolingMean}, {tanh}, false}, 30);
  check({{kPoolingLastToken}, {relu}, false}, 8);
  check({{kPoolingMax}, {gelu}, false}, 5);
  check({{kPoolingMean}, {unit, tanh, relu}, false}, 40);
  check({{kPoolingMean}, {unit, tanh}, true}, 25);
}

TEST_F(Vector, Info) {
  TestVector test{{kPoolingLastToken, kPoolingMean}, {{24, kActivationTanh, 12, false}}, true};
  const AlignedBytes blob(make_synthetic_blob(shape_of(test)));
  const embert_model model = open_model(blob);
  embert_model_info info = {.size = sizeof(info)};
  ASSERT_EQ(embert_model_get_info(&model, &info), EMBERT_STATUS_OK);
  EXPECT_EQ(info.vector_size, 24u);
  EXPECT_EQ(info.hidden_size, kHidden);
  EXPECT_EQ(info.num_poolings, 2u);
  EXPECT_EQ(info.num_vector_dense, 1u);
  EXPECT_EQ(embert_model_pooling(&model, 0), uint32_t{EMBERT_POOLING_LAST_TOKEN});
  EXPECT_EQ(embert_model_pooling(&model, 1), uint32_t{EMBERT_POOLING_MEAN});
  EXPECT_EQ(embert_model_pooling(&model, 2), UINT32_MAX);
  EXPECT_EQ(embert_model_pooling(nullptr, 0), UINT32_MAX);
  EXPECT_EQ(embert_vector_size(nullptr), 0u);
}

TEST_F(Vector, HostileRecords) {
  TestVector test{{kPoolingMean}, {{24, kActivationGelu, 8, false}}, true};
  const std::vector<std::uint8_t> section = section_bytes(test);
  const auto status = [](const std::vector<std::uint8_t>& bytes, std::uint32_t heads) {
    SyntheticModel shape;
    shape.heads = heads;
    if (!bytes.empty()) shape.optional = {{kSectionVector, bytes}};
    const AlignedBytes blob(make_synthetic_blob(shape));
    embert_model model;
    return embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model);
  };
  EXPECT_EQ(status(section, kHeadVector), EMBERT_STATUS_OK);
  EXPECT_EQ(status(section, 0), EMBERT_STATUS_BLOB_SECTION);
  EXPECT_EQ(status({}, kHeadVector), EMBERT_STATUS_BLOB_SECTION);
  const auto cut = [&](std::size_t bytes) {
    return std::vector<std::uint8_t>(section.begin(), section.begin() + static_cast<long>(bytes));
  };
  EXPECT_EQ(status(cut(section.size() - 1), kHeadVector), EMBERT_STATUS_BLOB_SECTION);
  EXPECT_EQ(status(cut(255), kHeadVector), EMBERT_STATUS_BLOB_SECTION);
  EXPECT_EQ(status(cut(256), kHeadVector), EMBERT_STATUS_BLOB_SECTION);
  std::vector<std::uint8_t> longer = section;
  longer.push_back(0);
  EXPECT_EQ(status(longer, kHeadVector), EMBERT_STATUS_BLOB_SECTION);

  const auto changed = [&](const std::function<void(BlobVector&)>& change) {
    std::vector<std::uint8_t> bytes = section;
    BlobVector record;
    std::memcpy(&record, bytes.data(), sizeof(record));
    change(record);
    std::memcpy(bytes.data(), &record, sizeof(record));
    return status(bytes, kHeadVector);
  };
  const std::function<void(BlobVector&)> kBad[] = {
      [](BlobVector& v) { v.vector_size = 25; },
      [](BlobVector& v) { v.num_poolings = 0; },
      [](BlobVector& v) { v.num_poolings = 7; },
      [](BlobVector& v) { v.num_poolings = UINT32_MAX; },
      [](BlobVector& v) { v.poolings[0] = 6; },
      [](BlobVector& v) { v.poolings[5] = 1; },
      [](BlobVector& v) { v.num_dense = 5; },
      [](BlobVector& v) { v.num_dense = UINT32_MAX; },
      [](BlobVector& v) { v.pooled_scale = 0; },
      [](BlobVector& v) { v.pooled_multiplier = 0; },
      [](BlobVector& v) { v.pooled_multiplier = -1; },
      [](BlobVector& v) { v.pooled_shift = 0; },
      [](BlobVector& v) { v.pooled_shift = 62; },
      [](BlobVector& v) { v.dense[0].outputs = v.vector_size = 0; },
      [](BlobVector& v) { v.dense[0].outputs = v.vector_size = 4097; },
      [](BlobVector& v) { v.dense[0].activation = 6; },
      [](BlobVector& v) { v.dense[0].exponent = 4; },
      [](BlobVector& v) { v.dense[0].exponent = 13; },
      [](BlobVector& v) { v.dense[0].activation = kActivationTanh; },
      [](BlobVector& v) { v.dense[0].activation = kActivationRelu; },
      [](BlobVector& v) { v.dense[0].scale = 0x7F800000; },
      [](BlobVector& v) { v.dense[0].normalize_input = 2; },
      [](BlobVector& v) { v.dense[0].reserved = 1; },
      [](BlobVector& v) { v.dense[0].dense.join_shift = 9; },
      [](BlobVector& v) { v.dense[0].dense.shifts.right = 32; },
      [](BlobVector& v) { v.dense[1].outputs = 1; },
      [](BlobVector& v) { v.reserved[11] = 1; }};
  for (std::size_t i = 0; i < std::size(kBad); ++i) {
    EXPECT_EQ(changed(kBad[i]), EMBERT_STATUS_BLOB_VALUE) << i;
  }
  EXPECT_EQ(changed([](BlobVector& v) { v.dense[0].outputs = v.vector_size = 33; }),
            EMBERT_STATUS_BLOB_SECTION);
  std::vector<std::uint8_t> weights = section;
  weights[256] = 0x80;
  EXPECT_EQ(status(weights, kHeadVector), EMBERT_STATUS_BLOB_VALUE);
}

}  // namespace
}  // namespace embert::test
