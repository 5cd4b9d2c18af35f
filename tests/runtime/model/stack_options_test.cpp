// SPDX-License-Identifier: Apache-2.0
// Hostile blobs of a stack with the options that ModernBERT brought.
#include "embert/embert_inspect.h"
#include "tests/runtime/model/blob_fields.hpp"

namespace embert::test {
namespace {

constexpr std::uint32_t kFlags =
    kStackPreNorm | kStackEmbeddingNorm | kStackRotary | kStackLocalAttention | kStackGatedFfn;

SyntheticModel modern(std::uint32_t flags) {
  SyntheticModel model;
  model.hidden_size = 20;
  model.num_layers = 3;
  model.num_heads = 2;
  model.head_size = 10;
  model.intermediate_size = 24;
  model.vocab_size = 12;
  model.max_positions = 8;
  model.flags = flags;
  model.rotary_tables = (flags & kStackLocalAttention) != 0 ? 2 : 1;
  return model;
}

class StackOptions : public BlobFields {
 protected:
  StackOptions() : BlobFields(modern(kFlags)) {}
  void bad_section(auto& field, auto value, const char* what) {
    expect(field, value, EMBERT_STATUS_BLOB_SECTION, what);
  }
  static std::string status_of(const SyntheticModel& shape) {
    const AlignedBytes blob(make_synthetic_blob(shape));
    embert_model model;
    return embert_status_name(
        embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model));
  }
};

TEST_F(StackOptions, AreAccepted) {
  EXPECT_EQ(open(false), EMBERT_STATUS_OK);
  for (const std::uint32_t flag : {kStackRotary, kStackLocalAttention, kStackGatedFfn}) {
    EXPECT_EQ(status_of(modern(flag)), "EMBERT_STATUS_OK") << flag;
  }
  EXPECT_EQ(status_of(modern(kStackPreNorm | kStackEmbeddingNorm)), "EMBERT_STATUS_OK");
}

TEST_F(StackOptions, FlagsAndSectionsGoTogether) {
  for (const std::uint32_t flag : {kStackRotary, kStackLocalAttention, kStackGatedFfn}) {
    // The section of a flag that is not set; a set flag without its section.
    SyntheticModel shape = modern(kFlags);
    shape.rotary_tables = 1;
    blob_ = AlignedBytes(make_synthetic_blob(shape));
    bad_section(header().stacks[0].flags, kFlags & ~flag, "flags");
    shape.flags &= ~flag;
    blob_ = AlignedBytes(make_synthetic_blob(shape));
    bad_section(header().stacks[0].flags, kFlags, "flags");
  }
  blob_ = AlignedBytes(make_synthetic_blob(modern(kFlags)));
  bad_section(header().stacks[0].flags, kFlags & ~kStackEmbeddingNorm, "a hidden rescale too many");
  for (const auto kind : {kSectionRotary, kSectionLocalAttention, kSectionGatedFfn}) {
    bad_section(section(kind).bytes, section(kind).bytes - 4, "bytes");
    bad_section(section(kind).bytes, section(kind).bytes + 4, "bytes");
  }
  bad_section(section(kSectionRotary).bytes, sizeof(BlobRotary) - 1, "bytes");
  bad_section(section(kSectionRotary).bytes, 0, "bytes");
}

TEST_F(StackOptions, HeaderIsChecked) {
  BlobStack& stack = header().stacks[0];
  const auto bad_header = [&](auto& field, auto value, const char* what) {
    expect(field, value, EMBERT_STATUS_BLOB_HEADER, what);
  };
  bad_header(stack.flags, kFlags & ~kStackPreNorm, "embedding norm in a post-norm stack");
  bad_header(stack.head_size, 9u, "an odd head size");
  bad_header(stack.position_kind, 1u, "rotary and relative positions");
  bad_header(stack.flags, kFlags | (1u << 30), "unknown flag");
  SyntheticModel pair = modern(kStackCausal | kStackCrossAttention);
  pair.encoder = {modern(0)};
  ASSERT_EQ(status_of(pair), "EMBERT_STATUS_OK");
  pair.encoder[0].flags = kStackPreNorm | kStackEmbeddingNorm;
  EXPECT_EQ(status_of(pair), embert_status_name(EMBERT_STATUS_BLOB_HEADER));
  pair.encoder[0].flags = 0;
  pair.flags |= kStackPreNorm | kStackEmbeddingNorm;
  EXPECT_EQ(status_of(pair), embert_status_name(EMBERT_STATUS_BLOB_HEADER));
}

TEST_F(StackOptions, ValuesAreChecked) {
  BlobRotary& rotary = *contents<BlobRotary>(kSectionRotary);
  bad_value(rotary.tables, 0u, "tables");
  bad_value(rotary.tables, 3u, "tables");
  bad_value(rotary.reserved, 1u, "reserved");
  expect_shifts(rotary.shifts);
  std::int32_t* multipliers = reinterpret_cast<std::int32_t*>(&rotary + 1);
  bad_value(multipliers[15], -1, "multiplier");
  std::int16_t* angles = reinterpret_cast<std::int16_t*>(multipliers + 16);
  const std::size_t last = 2 * 8 * 10 - 1;
  bad_value(angles[0], 16385, "angle");
  bad_value(angles[last], -16385, "angle");
  bad_section(rotary.tables, 1u, "a table too many");

  BlobLocalAttention& local = *contents<BlobLocalAttention>(kSectionLocalAttention);
  bad_value(local.period, 0u, "period");
  bad_value(local.period, 49u, "period");
  bad_value(local.reach, 512u, "reach");

  BlobGatedFfn* gates = contents<BlobGatedFfn>(kSectionGatedFfn);
  bad_value(gates[0].shift, -1, "shift");
  bad_value(gates[2].shift, 16, "shift");

  SyntheticModel two_tables = modern(kStackRotary);
  two_tables.rotary_tables = 2;
  EXPECT_EQ(status_of(two_tables), embert_status_name(EMBERT_STATUS_BLOB_VALUE));
}

// The gate's half of the first feed-forward layer is checked as the other one.
TEST_F(StackOptions, FeedForwardHasTwoHalves) {
  std::int8_t* weights = contents<std::int8_t>(kSectionFfnUp, 2);
  const std::size_t columns = 2 * 32, inputs = 20;
  bad_value(weights[columns * inputs - 1], -128, "weight of the gate");
  std::int32_t* sums = behind_weights(weights, columns, inputs, 1);
  bad_value(sums[columns - 1], 1, "sum of the gate");
}

}  // namespace
}  // namespace embert::test
