// SPDX-License-Identifier: Apache-2.0
// Hostile blobs of a stack whose dense layers read 16 bits, and the arena of such a stack.
#include <algorithm>

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

TEST_F(Planes, RowsAreChecked) {
  auto* records = contents<BlobPlanes>(kSectionPlanes);
  for (std::size_t l = 0; l < 2; ++l) {
    bad_value(records[l].qkv, 3, "qkv");
    bad_value(records[l].qkv, 255, "qkv");
    for (const std::uint8_t rows : {std::uint8_t{kPlanesFirst}, std::uint8_t{3}}) {
      bad_value(records[l].attn_out, rows, "attn_out");
      bad_value(records[l].ffn_up, rows, "ffn_up");
      bad_value(records[l].ffn_down, rows, "ffn_down");
      bad_value(records[l].probabilities, rows, "probabilities");
    }
    bad_value(records[l].reserved, 1, "reserved");
    for (const std::uint16_t columns : std::initializer_list<std::uint16_t>{8, 128, 256, 65535}) {
      bad_value(records[l].first_columns, columns, "first columns");
    }
    bad_section(records[l].first_columns, 16, "first columns of a layer with one group");
  }
  records[1] = {.qkv = kPlanesFirst, .ffn_up = kPlanesAll};
  EXPECT_EQ(open(), EMBERT_STATUS_OK);
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

TEST_F(Planes, LayersThatShareWeightsHaveTheSameColumnGroups) {
  SyntheticModel shape = with_flags(kStackPlanes | kStackSharedLayers);
  shape.shared = {{0, 0}, {0, 1}};
  shape.planes.first_columns = 16;
  ASSERT_EQ(open_shape(shape), EMBERT_STATUS_OK);
  bad_value(contents<BlobPlanes>(kSectionPlanes)[1].first_columns, 0, "those of the other layer");
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

// No input with planes: the bits of a blob without the section.
TEST_F(Planes, OfNoDenseLayerChangeNoBit) {
  const auto hidden = [](const SyntheticModel& shape) {
    const AlignedBytes blob(make_synthetic_blob(shape));
    const Texts texts(shape, {1, 5, 40}, 3);
    const embert_model model = open_model(blob, embert_isa_detect());
    embert_options options = embert_options_default(&model);
    options.max_batch = 3;
    AlignedBytes arena(arena_bytes(model, options));
    embert_engine* engine = nullptr;
    EXPECT_EQ(embert_engine_init(&model, &options, arena.data(), arena.size(), &engine),
              EMBERT_STATUS_OK);
    const embert_input input = texts.input();
    const std::int16_t* rows = nullptr;
    EXPECT_EQ(embert_last_hidden_state(engine, &input, &rows, nullptr), EMBERT_STATUS_OK);
    return std::vector<std::int16_t>(rows, rows + texts.ids.size() * shape.hidden_size);
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
    double error = 0, power = 0;
    for (std::size_t i = 0; i < with.size(); ++i) {
      const double difference = with[i] - without[i];
      error += difference * difference;
      power += static_cast<double>(without[i]) * without[i];
    }
    EXPECT_LT(error, 0.1 * power);
  }
}

}  // namespace
}  // namespace embert::test
