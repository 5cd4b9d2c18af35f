// SPDX-License-Identifier: Apache-2.0
// Hostile blobs of a stack with word embeddings of 4 bits.
#include "embert/embert_inspect.h"
#include "kernels/arithmetic/word_4bit.hpp"
#include "tests/runtime/model/blob_fields.hpp"

namespace embert::test {
namespace {

constexpr std::uint32_t kHidden = 36, kVocab = 12;

SyntheticModel small(std::uint32_t flags) {
  SyntheticModel model;
  model.hidden_size = kHidden;
  model.num_layers = 1;
  model.num_heads = 2;
  model.head_size = 18;
  model.intermediate_size = 24;
  model.vocab_size = kVocab;
  model.max_positions = 8;
  model.flags = flags;
  return model;
}

class Embeddings4Bit : public BlobFields {
 protected:
  Embeddings4Bit() : BlobFields(small(kStackEmbeddings4Bit)) {}
  void bad_section(auto& field, auto value, const char* what) {
    expect(field, value, EMBERT_STATUS_BLOB_SECTION, what);
  }
  embert_status open_shape(const SyntheticModel& shape) {
    blob_ = AlignedBytes(make_synthetic_blob(shape));
    return open(false);
  }
};

TEST_F(Embeddings4Bit, AreAccepted) {
  EXPECT_EQ(open(false), EMBERT_STATUS_OK);
  EXPECT_EQ(section(kSectionEmbeddings4Bit).bytes, 64 + kVocab * (2 * 16 + 2));
  EXPECT_EQ(section(kSectionWordEmbeddings).bytes, 0u);
  // Rows of the embeddings' own width.
  SyntheticModel narrow = small(kStackEmbeddings4Bit | kStackEmbeddingProjection);
  narrow.embedding_size = 20;
  EXPECT_EQ(open_shape(narrow), EMBERT_STATUS_OK);
  EXPECT_EQ(section(kSectionEmbeddings4Bit).bytes, 64 + kVocab * 17);
}

TEST_F(Embeddings4Bit, FlagAndSectionGoTogether) {
  constexpr std::uint32_t kBytes = 64 + kVocab * 34;
  for (const std::uint32_t bytes :
       std::initializer_list<std::uint32_t>{kBytes - 1, kBytes + 1, 64, 63, 0}) {
    bad_section(section(kSectionEmbeddings4Bit).bytes, bytes, "bytes");
  }
  bad_section(section(kSectionEmbeddings4Bit).kind, 279, "an unknown kind in its place");
  bad_section(section(kSectionWordEmbeddings).bytes, kVocab * kHidden, "8-bit rows beside them");
  bad_section(header().stacks[0].flags, 0u, "no flag");
  // 8-bit rows and a section too many.
  SyntheticModel both = small(0);
  both.optional = {{kSectionEmbeddings4Bit, std::vector<std::uint8_t>(64 + kVocab * 34)}};
  EXPECT_EQ(open_shape(both), EMBERT_STATUS_BLOB_SECTION);
}

TEST_F(Embeddings4Bit, ValuesAreChecked) {
  auto& record = *contents<BlobEmbeddings4Bit>(kSectionEmbeddings4Bit);
  bad_value(record.levels[0], -128, "level");
  bad_value(record.levels[15], -128, "level");
  bad_value(record.reserved[0], 1, "reserved");
  bad_value(record.reserved[47], 1, "reserved");
  auto* multipliers = contents<std::int32_t>(kSectionWordMultipliers);
  bad_value(multipliers[0], -1, "multiplier");
  bad_value(multipliers[kVocab - 1], kMaxWordMultiplier4Bit + 1, "multiplier");
}

TEST_F(Embeddings4Bit, BelongToALoneStackWithoutATiedHead) {
  SyntheticModel tied = small(kStackEmbeddings4Bit);
  tied.heads = kHeadLm;
  EXPECT_EQ(open_shape(tied), EMBERT_STATUS_BLOB_HEADER);
  tied.heads = kHeadLm | kHeadLmUntied;
  EXPECT_EQ(open_shape(tied), EMBERT_STATUS_OK);

  SyntheticModel pair = small(kStackCausal | kStackCrossAttention);
  pair.encoder = {small(0)};
  ASSERT_EQ(open_shape(pair), EMBERT_STATUS_OK);
  pair.encoder = {small(kStackEmbeddings4Bit)};
  EXPECT_EQ(open_shape(pair), EMBERT_STATUS_BLOB_HEADER);
}

// The largest products stay within 32 bits: UBSan would see an overflow in the scalar kernel.
TEST_F(Embeddings4Bit, LargestValuesRun) {
  auto& record = *contents<BlobEmbeddings4Bit>(kSectionEmbeddings4Bit);
  auto* rows = reinterpret_cast<std::uint8_t*>(&record + 1);
  std::fill_n(rows, kVocab * word_row_bytes(kHidden), std::uint8_t{0x80});  // scales -128
  std::fill_n(record.levels, 16, std::int8_t{127});
  std::fill_n(contents<std::int32_t>(kSectionWordMultipliers), kVocab, kMaxWordMultiplier4Bit);
  ASSERT_EQ(open(), EMBERT_STATUS_OK);
  const std::int32_t ids[] = {0, kVocab - 1};
  const std::uint32_t length = 2;
  const auto run = [&](std::uint32_t isa_mask) {
    const embert_model model = open_model(blob_, isa_mask);
    embert_options options = embert_options_default(&model);
    AlignedBytes arena(arena_bytes(model, options));
    embert_engine* engine = nullptr;
    EXPECT_EQ(embert_engine_init(&model, &options, arena.data(), arena.size(), &engine),
              EMBERT_STATUS_OK);
    const embert_input input = make_input(ids, nullptr, &length, 1);
    const std::int16_t* hidden = nullptr;
    EXPECT_EQ(embert_last_hidden_state(engine, &input, &hidden, nullptr), EMBERT_STATUS_OK);
    return std::vector<std::int16_t>(hidden, hidden + 2 * kHidden);
  };
  EXPECT_EQ(run(embert_isa_detect()), run(EMBERT_ISA_SCALAR));
}

}  // namespace
}  // namespace embert::test
