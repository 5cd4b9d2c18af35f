// SPDX-License-Identifier: Apache-2.0
// Hostile blobs of a stack whose dense layers read 16 bits, and the arena of such a stack.
#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/model/section_sizes.hpp"
#include "tests/runtime/model/blob_fields.hpp"

namespace embert::test {
namespace {

SyntheticModel with_flags(std::uint32_t flags) {
  SyntheticModel model = small_model();
  model.flags = flags;
  return model;
}

class Planes : public BlobFields {
 protected:
  Planes() : BlobFields(with_flags(kStackPlanes)) {}
  void bad_section(auto& field, auto value, const char* what) {
    expect(field, value, EMBERT_STATUS_BLOB_SECTION, what);
  }
  embert_status open_shape(const SyntheticModel& shape) {
    blob_ = AlignedBytes(make_synthetic_blob(shape));
    return open(false);
  }
  /// Last hidden state of three texts, from the blob as it is.
  std::vector<std::int16_t> hidden_of_blob(const SyntheticModel& shape) {
    const Texts texts(shape, {1, 5, shape.max_positions}, 3);
    const embert_model model = open_model(blob_, embert_isa_detect());
    embert_options options = embert_options_default(&model);
    options.max_batch = 3;
    AlignedBytes arena(0);
    embert_engine* engine = make_engine(model, options, arena);
    const embert_input input = texts.input();
    const std::int16_t* rows = nullptr;
    EXPECT_EQ(embert_last_hidden_state(engine, &input, &rows, nullptr), EMBERT_STATUS_OK);
    return std::vector<std::int16_t>(rows, rows + texts.ids.size() * shape.hidden_size);
  }
};

TEST_F(Planes, FlagAndSectionGoTogether) {
  ASSERT_EQ(open(false), EMBERT_STATUS_OK);
  ASSERT_EQ(section(kSectionPlanes).bytes, 2 * sizeof(BlobPlanes));
  for (const std::uint32_t bytes : {0u, 8u, 15u, 17u, 24u}) {
    bad_section(section(kSectionPlanes).bytes, bytes, "bytes");
  }
  bad_section(section(kSectionPlanes).kind, 279, "an unknown kind in its place");
  bad_section(header().stacks[0].flags, 0u, "no flag");
  SyntheticModel unasked = with_flags(0);
  unasked.optional = {{kSectionPlanes, std::vector<std::uint8_t>(16)}};
  EXPECT_EQ(open_shape(unasked), EMBERT_STATUS_BLOB_SECTION);
}

// A section for one stack: with a second one its layers would be read as those of the first.
TEST_F(Planes, OfTwoStacksAreRefusedUnread) {
  SyntheticModel two = planes_of_two_stacks(small_model());
  const std::vector<SyntheticSection> planes = std::exchange(two.optional, {});
  ASSERT_EQ(open_shape(two), EMBERT_STATUS_OK);
  two.optional = planes;
  EXPECT_EQ(open_shape(two), EMBERT_STATUS_BLOB_SECTION);
  two.optional[0].bytes[0] = 255;
  EXPECT_EQ(open_shape(two), EMBERT_STATUS_BLOB_SECTION);
}

TEST_F(Planes, RowsAreChecked) {
  auto* records = contents<BlobPlanes>(kSectionPlanes);
  for (std::size_t l = 0; l < 2; ++l) {
    bad_value(records[l].qkv, 3, "qkv");
    bad_value(records[l].qkv, 255, "qkv");
    for (const std::uint8_t rows : {std::uint8_t{kPlanesFirst}, std::uint8_t{3}}) {
      bad_value(records[l].attn_out, rows, "attn_out");
      bad_value(records[l].ffn_up, rows, "ffn_up");
      bad_value(records[l].ffn_down, rows, "ffn_down");
    }
    bad_value(records[l].probabilities, kPlanesFirst, "probabilities");
    bad_value(records[l].probabilities, 4, "probabilities");
    bad_section(records[l].copied_inputs, 1, "copied inputs of a layer without them");
    for (const std::uint16_t columns : std::initializer_list<std::uint16_t>{8, 128, 256, 65535}) {
      bad_value(records[l].first_columns, columns, "first columns");
    }
    bad_section(records[l].first_columns, 16, "first columns of a layer with one group");
  }
  records[1] = {.qkv = kPlanesFirst, .ffn_up = kPlanesAll};
  EXPECT_EQ(open(), EMBERT_STATUS_OK);
}

// Queries and keys of 16 bits need 8 more bits in their factors, 16 bits in the rows that they are
// made of, and scores that are their product alone.
TEST_F(Planes, ScorePlanesAreChecked) {
  SyntheticModel shape = with_flags(kStackPlanes);
  shape.planes.probabilities = kPlanesScores;
  ASSERT_EQ(open_shape(shape), EMBERT_STATUS_OK);
  auto* records = contents<BlobPlanes>(kSectionPlanes);
  auto* layers = contents<BlobLayer>(kSectionLayers);
  for (std::size_t l = 0; l < 2; ++l) {
    bad_value(records[l].qkv, kPlanesNone, "8-bit rows");
    bad_value(records[l].qkv, kPlanesFirst, "8-bit rows but the first");
    for (BlobShifts* shifts : {&layers[l].self.query, &layers[l].self.key}) {
      const BlobShifts before = *shifts;
      *shifts = {.left = 7, .right = 0};
      EXPECT_EQ(open(), EMBERT_STATUS_OK);
      *shifts = {.left = 8, .right = 0};
      EXPECT_EQ(open(), EMBERT_STATUS_BLOB_VALUE);
      *shifts = before;
    }
  }
  for (const std::uint32_t flags : {kStackCausal, kStackScoreBias, kStackRotary}) {
    SyntheticModel other = with_flags(kStackPlanes | flags);
    other.planes = {.qkv = kPlanesAll, .probabilities = kPlanesAll};
    if (flags == kStackRotary) other.rotary_tables = 1;
    ASSERT_EQ(open_shape(other), EMBERT_STATUS_OK) << flags;
    other.planes.probabilities = kPlanesScores;
    EXPECT_EQ(open_shape(other), EMBERT_STATUS_BLOB_VALUE) << flags;
  }
  for (const std::uint32_t kind : {kPositionRelativeKey, kPositionRelativeKeyQuery}) {
    shape.position_kind = kind;
    EXPECT_EQ(open_shape(shape), EMBERT_STATUS_BLOB_VALUE) << kind;
  }
}

// To make 16-bit queries and keys the runtime takes 8 from the right shift, and shifts to the left
// where the right shift is less. Half the multiplier with a right shift less by 1 is the same.
TEST_F(Planes, QueriesAndKeysGetFinerByEitherShift) {
  SyntheticModel shape = with_flags(kStackPlanes);
  shape.planes = {.qkv = kPlanesAll, .probabilities = kPlanesScores};
  ASSERT_EQ(open_shape(shape), EMBERT_STATUS_OK);
  const std::size_t columns = pad_columns(shape.head_size);
  const auto hidden = [&](std::int32_t multiplier, std::uint8_t right) {
    for (std::uint32_t l = 0; l < shape.num_layers; ++l) {
      BlobLayer& layer = contents<BlobLayer>(kSectionLayers)[l];
      layer.self.query = layer.self.key = {.left = 0, .right = right};
      std::int32_t* multipliers =
          behind_weights(contents<std::int8_t>(kSectionQkv, l), 3 * shape.num_heads * columns,
                         shape.hidden_size, 2);
      for (std::size_t head = 0; head < shape.num_heads; ++head) {
        std::fill_n(multipliers + head * 3 * columns, 2 * columns, multiplier);
      }
    }
    seal_blob(blob_.data(), blob_.size());
    return hidden_of_blob(shape);
  };
  const std::vector<std::int16_t> expected = hidden(1 << 30, 8);
  EXPECT_EQ(hidden(1 << 29, 7), expected);
  EXPECT_EQ(hidden(1 << 26, 4), expected);
  EXPECT_NE(hidden(1 << 29, 8), expected);
}

// Exponentials of 14 bits get to 0 with these multipliers only. Layers without them take all that
// are allowed without planes.
TEST_F(Planes, ScoreMultipliersAreChecked) {
  auto* multipliers = contents<std::uint32_t>(kSectionScores);
  auto* records = contents<BlobPlanes>(kSectionPlanes);
  std::uint32_t& cap = multipliers[header().stacks[0].num_heads];
  const auto set = [&](std::uint32_t multiplier) {
    multipliers[0] = multiplier;
    cap = std::min(kMaxScoreCap, (UINT32_MAX - (1u << 21)) / multiplier);
  };
  for (const std::uint32_t bad : {3u, (1u << 28) + 1}) {
    set(bad);
    EXPECT_EQ(open(), EMBERT_STATUS_BLOB_VALUE) << bad;
    records[0].probabilities = kPlanesNone;
    EXPECT_EQ(open(), EMBERT_STATUS_OK) << bad;
    records[0].probabilities = kPlanesAll;
  }
  for (const std::uint32_t good : {4u, 1u << 28}) {
    set(good);
    EXPECT_EQ(open(), EMBERT_STATUS_OK) << good;
  }
}

TEST_F(Planes, ScoreMultipliersServeEachLayerThatSharesThem) {
  SyntheticModel shape = with_flags(kStackPlanes | kStackSharedLayers);
  shape.shared = {{0, 0}, {0, 1}};
  ASSERT_EQ(open_shape(shape), EMBERT_STATUS_OK);
  auto* multipliers = contents<std::uint32_t>(kSectionScores);
  auto* records = contents<BlobPlanes>(kSectionPlanes);
  multipliers[0] = 3;
  multipliers[header().stacks[0].num_heads] = kMaxScoreCap;
  records[0].probabilities = kPlanesNone;
  EXPECT_EQ(open(), EMBERT_STATUS_BLOB_VALUE);
  records[1].probabilities = kPlanesNone;
  EXPECT_EQ(open(), EMBERT_STATUS_OK);
}

TEST_F(Planes, ColumnGroupsAreChecked) {
  SyntheticModel shape = with_flags(kStackPlanes);
  shape.planes.first_columns = 16;
  shape.intermediate_size = 40;
  const std::size_t inner = shape.intermediate_size;
  ASSERT_EQ(open_shape(shape), EMBERT_STATUS_OK);
  auto* records = contents<BlobPlanes>(kSectionPlanes);
  bad_section(records[1].first_columns, 0, "one group");
  bad_section(section(kSectionFfnDown).bytes, residual_dense_bytes(shape.hidden_size, inner),
              "bytes of one group");
  // The same bytes, but the sums are those of other weights.
  bad_value(records[1].first_columns, 32, "another place of the cut");
  const std::size_t first = residual_dense_bytes(shape.hidden_size, 16);
  for (const std::size_t group : {std::size_t{0}, first}) {
    const std::size_t columns = group == 0 ? 16 : inner - 16;
    std::uint8_t* at = contents<std::uint8_t>(kSectionFfnDown) + group;
    auto* sums = reinterpret_cast<std::int32_t*>(at + pad_columns(shape.hidden_size) * columns);
    bad_value(sums[0], sums[0] + 1, "sum");
    bad_value(sums[pad_columns(shape.hidden_size)], -1, "multiplier");
    bad_value(sums[2 * pad_columns(shape.hidden_size)], 1 << 29, "residual multiplier");
    bad_value(sums[3 * pad_columns(shape.hidden_size)], 1 << 28, "constant");
  }
}

TEST_F(Planes, CopiedInputsAreChecked) {
  SyntheticModel shape = with_flags(kStackPlanes);
  shape.planes.copied_inputs = 3;
  ASSERT_EQ(open_shape(shape), EMBERT_STATUS_OK);
  BlobSection& of_planes = section(kSectionPlanes);
  ASSERT_EQ(of_planes.bytes, 2 * sizeof(BlobPlanes) + 6 * sizeof(std::uint16_t));
  for (const std::uint32_t bytes : {16u, 26u, 30u}) bad_section(of_planes.bytes, bytes, "bytes");
  auto* records = contents<BlobPlanes>(kSectionPlanes);
  for (const std::uint8_t count : {std::uint8_t{2}, std::uint8_t{5}, std::uint8_t{255}}) {
    bad_section(records[0].copied_inputs, count, "copied inputs");
    bad_section(records[1].copied_inputs, count, "copied inputs");
  }
  auto* inputs = reinterpret_cast<std::uint16_t*>(records + 2);
  for (std::size_t i = 0; i < 6; ++i) {
    for (const std::uint32_t input : {shape.hidden_size, std::uint32_t{65535}}) {
      bad_value(inputs[i], input, "copied input");
    }
  }
  inputs[5] = static_cast<std::uint16_t>(shape.hidden_size - 1);
  EXPECT_EQ(open(), EMBERT_STATUS_OK);
}

// Weight that moves from an input's own column to that of its copy changes no bit, whatever reads
// it: 8 bits, 16 bits, an activation or a gate. A copy of another input does.
TEST_F(Planes, ACopyReadsItsInput) {
  for (const std::uint32_t flags : {kStackPlanes + 0u, kStackPlanes | kStackGatedFfn}) {
    for (const BlobPlaneRows rows : {kPlanesNone, kPlanesAll}) {
      SyntheticModel shape = with_flags(flags);
      shape.hidden_size = 22;  // the copies begin inside a group of 4 bytes
      shape.planes = {.ffn_up = rows, .copied_inputs = 3};
      ASSERT_EQ(open_shape(shape), EMBERT_STATUS_OK);
      const std::vector<std::int16_t> before = hidden_of_blob(shape);
      for (std::uint32_t layer = 0; layer < 2; ++layer) {
        const auto* inputs =
            reinterpret_cast<const std::uint16_t*>(contents<BlobPlanes>(kSectionPlanes) + 2);
        auto* weights = contents<std::int8_t>(kSectionFfnUp, layer);
        const std::size_t k = pad_inputs(shape.hidden_size + 3u),
                          columns = (flags & kStackGatedFfn) != 0 ? 64 : 32;
        for (std::size_t i = 0; i < 3; ++i) {
          for (std::size_t n = 0; n < columns; ++n) {
            std::int8_t& own = weights[n16k4_index(n, inputs[3 * layer + i], k)];
            std::int8_t& copy = weights[n16k4_index(n, shape.hidden_size + i, k)];
            const int sum = own + copy, half = sum / 2;
            own = static_cast<std::int8_t>(half);
            copy = static_cast<std::int8_t>(sum - half);
          }
        }
      }
      seal_blob(blob_.data(), blob_.size());
      EXPECT_EQ(hidden_of_blob(shape), before);
      auto& copied = *reinterpret_cast<std::uint16_t*>(contents<BlobPlanes>(kSectionPlanes) + 2);
      copied = static_cast<std::uint16_t>(copied + 1);
      seal_blob(blob_.data(), blob_.size());
      EXPECT_NE(hidden_of_blob(shape), before);
    }
  }
}

TEST_F(Planes, LayersThatShareWeightsHaveTheSameColumnGroups) {
  SyntheticModel shape = with_flags(kStackPlanes | kStackSharedLayers);
  shape.shared = {{0, 0}, {0, 1}};
  shape.planes.first_columns = 16;
  ASSERT_EQ(open_shape(shape), EMBERT_STATUS_OK);
  bad_value(contents<BlobPlanes>(kSectionPlanes)[1].first_columns, 0, "those of the other layer");
}

TEST_F(Planes, LayersThatShareWeightsCopyAsManyInputs) {
  SyntheticModel shape = with_flags(kStackPlanes | kStackSharedLayers);
  shape.shared = {{0, 0}, {0, 1}};
  shape.planes.copied_inputs = 2;
  ASSERT_EQ(open_shape(shape), EMBERT_STATUS_OK);
  contents<BlobPlanes>(kSectionPlanes)[1].copied_inputs = 1;
  section(kSectionPlanes).bytes -= sizeof(std::uint16_t);  // the last section
  header().blob_bytes -= sizeof(std::uint16_t);
  seal_blob(blob_.data(), static_cast<std::size_t>(header().blob_bytes));
  EXPECT_EQ(open(false), EMBERT_STATUS_BLOB_VALUE);
}

TEST_F(Planes, BelongToALoneStackWithoutBottlenecks) {
  SyntheticModel pair = with_flags(kStackCausal | kStackCrossAttention);
  pair.encoder = {with_flags(0)};
  ASSERT_EQ(open_shape(pair), EMBERT_STATUS_OK);
  pair.encoder = {with_flags(kStackPlanes)};
  EXPECT_EQ(open_shape(pair), EMBERT_STATUS_BLOB_HEADER);

  SyntheticModel mobile = with_flags(kStackBottleneck);
  mobile.bottleneck = {mobile.hidden_size, 2, kBottleneckNone, 0};
  ASSERT_EQ(open_shape(mobile), EMBERT_STATUS_OK);
  mobile.flags |= kStackPlanes;
  EXPECT_EQ(open_shape(mobile), EMBERT_STATUS_BLOB_HEADER);
}

// The squared difference is less than a tenth of the expected squares.
void expect_close(const std::vector<std::int16_t>& actual,
                  const std::vector<std::int16_t>& expected) {
  double error = 0, power = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double difference = actual[i] - expected[i];
    error += difference * difference;
    power += static_cast<double>(expected[i]) * expected[i];
  }
  EXPECT_LT(error, 0.1 * power);
}

// No input with planes: the bits of a blob without the section.
TEST_F(Planes, OfNoDenseLayerChangeNoBit) {
  const auto hidden = [&](const SyntheticModel& shape) {
    EXPECT_EQ(open_shape(shape), EMBERT_STATUS_OK);
    return hidden_of_blob(shape);
  };
  // Larger than the others: with a few small scores 8 and 14 bits give the same context.
  SyntheticModel shape = with_flags(0);
  shape.hidden_size = 100;
  shape.num_heads = 5;
  shape.head_size = 20;
  shape.max_positions = 40;
  const std::vector<std::int16_t> without = hidden(shape);
  shape.flags = kStackPlanes;
  shape.planes = {};
  EXPECT_EQ(hidden(shape), without);
  // Each of them changes bits by its own.
  std::uint8_t BlobPlanes::*const dense[] = {&BlobPlanes::qkv, &BlobPlanes::attn_out,
                                             &BlobPlanes::ffn_up, &BlobPlanes::ffn_down,
                                             &BlobPlanes::probabilities};
  for (const auto member : dense) {
    shape.planes = {};
    shape.planes.*member = kPlanesAll;
    const std::vector<std::int16_t> with = hidden(shape);
    EXPECT_NE(with, without);
    // They stay close to those of 8 bits: the planes are joined in the same scale. Rows that 8 bits
    // cut off at 127 make up most of the difference.
    expect_close(with, without);
  }
  shape.planes = {.qkv = kPlanesAll, .probabilities = kPlanesAll};
  const std::vector<std::int16_t> probabilities = hidden(shape);
  shape.planes.probabilities = kPlanesScores;
  const std::vector<std::int16_t> scores = hidden(shape);
  EXPECT_NE(scores, probabilities);
  expect_close(scores, probabilities);
}

}  // namespace
}  // namespace embert::test
