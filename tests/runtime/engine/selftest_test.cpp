// SPDX-License-Identifier: Apache-2.0
// The power-on self-test: its checksum against the same outputs through the public functions, on
// all kernels; its status for a blob that gives other bits.
#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "tests/runtime/engine/guarded_engine.hpp"
#include "tests/runtime/model/blob_fields.hpp"
#include "tests/support/system/isa_masks.hpp"

namespace embert::test {
namespace {

const std::vector<std::int32_t> kIds = {7, 3, 41, 3, 0, 59, 12, 8, 30, 2, 2};

SyntheticModel model_with(std::uint32_t heads, std::uint32_t flags = 0) {
  SyntheticModel model;
  model.vocab_size = 300;  // two blocks of tokens
  model.heads = heads;
  model.flags = flags;
  model.selftest_ids = kIds;
  return model;
}

SyntheticModel pair_model() {
  SyntheticModel model = model_with(kHeadLm, kStackCausal | kStackCrossAttention);
  SyntheticModel encoder = model_with(0);
  encoder.num_layers = 1;
  model.encoder = {encoder};
  return model;
}

class Selftest : public BlobFields, public testing::WithParamInterface<SyntheticModel> {
 protected:
  Selftest() : BlobFields(GetParam()) {}

  /// The checksum of FORMAT.md, section 7, from buffers with all outputs.
  std::uint32_t checksum_by_hand(embert_engine* engine) {
    const std::size_t n = kIds.size();
    const std::uint32_t length = static_cast<std::uint32_t>(n);
    const embert_input input = make_input(kIds.data(), nullptr, &length, 1);
    const BlobHeader& h = header();
    const BlobStack& last = h.stacks[h.num_stacks - 1];
    if (h.num_stacks == 2) {
      EXPECT_EQ(embert_encode_source(engine, &input, nullptr), EMBERT_STATUS_OK);
    }
    const std::int16_t* hidden = nullptr;
    std::vector<std::int16_t> pooled(last.hidden_size);
    std::vector<std::int32_t> logits(h.num_labels), token_logits(n * h.num_token_labels);
    embert_output output = {.size = sizeof(output)};
    output.hidden = &hidden;
    if ((h.task_heads & kHeadPooler) != 0) output.pooled = pooled.data();
    if ((h.task_heads & kHeadClassifier) != 0) output.logits = logits.data();
    if ((h.task_heads & kHeadTokenClassifier) != 0) output.token_logits = token_logits.data();
    EXPECT_EQ(embert_run(engine, &input, &output), EMBERT_STATUS_OK);
    std::uint32_t crc = embert_crc32c(0, hidden, n * last.hidden_size * sizeof(std::int16_t));
    crc = embert_crc32c(crc, token_logits.data(), h.num_token_labels * sizeof(std::int32_t));
    if (output.pooled != nullptr) {
      crc = embert_crc32c(crc, pooled.data(), pooled.size() * sizeof(std::int16_t));
    }
    crc = embert_crc32c(crc, logits.data(), logits.size() * sizeof(std::int32_t));
    if ((h.task_heads & kHeadLm) != 0) {
      std::vector<std::int32_t> words(last.vocab_size);
      EXPECT_EQ(embert_lm_logits(engine, length - 1, words.data(), nullptr), EMBERT_STATUS_OK);
      crc = embert_crc32c(crc, words.data(), words.size() * sizeof(std::int32_t));
    }
    return crc;
  }
  void record(std::uint32_t checksum) {
    contents<BlobSelftest>(kSectionSelftest)->crc32c = checksum;
    seal_blob(blob_.data(), blob_.size());
  }
};

TEST_P(Selftest, ComparesTheBitsOfEveryHead) {
  std::uint32_t expected = 0;
  {
    const GuardedEngine by_hand(blob_, {EMBERT_ISA_SCALAR, 1});
    expected = checksum_by_hand(by_hand);
  }
  record(expected ^ 1);
  for (const std::uint32_t isa_mask : isa_masks()) {
    const GuardedEngine engine(blob_, {isa_mask, 1});
    std::uint32_t found = 0;
    EXPECT_EQ(embert_selftest(engine, &found), EMBERT_STATUS_SELFTEST_FAILED);
    EXPECT_EQ(found, expected) << embert_isa_name(isa_mask);
    EXPECT_EQ(embert_selftest(engine, nullptr), EMBERT_STATUS_SELFTEST_FAILED);
  }
  record(expected);
  for (const std::uint32_t isa_mask : isa_masks()) {
    const GuardedEngine engine(blob_, {isa_mask, 1});
    std::uint32_t found = 0;
    EXPECT_EQ(embert_selftest(engine, &found), EMBERT_STATUS_OK);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(embert_selftest(engine, nullptr), EMBERT_STATUS_OK) << "the second time";
    EXPECT_EQ(embert_cache_length(engine, 0), 0u);
  }
}

TEST_P(Selftest, SeesAWeightThatChanged) {
  {
    const GuardedEngine before(blob_, {EMBERT_ISA_SCALAR, 1});
    record(checksum_by_hand(before));
  }
  *contents<std::int16_t>(kSectionPositions, 0, header().num_stacks - 1) ^= 0x400;
  seal_blob(blob_.data(), blob_.size());
  const GuardedEngine after(blob_, {EMBERT_ISA_SCALAR, 1});
  EXPECT_EQ(embert_selftest(after, nullptr), EMBERT_STATUS_SELFTEST_FAILED);
}

TEST_P(Selftest, NeedsRoomForItsTokens) {
  const std::uint32_t tokens = static_cast<std::uint32_t>(kIds.size());
  const auto selftest = [&](std::uint32_t room) {
    const std::uint32_t source = header().num_stacks == 2 ? room : 0;
    const GuardedEngine engine(blob_, {EMBERT_ISA_SCALAR, 1}, 1, room, source);
    return embert_selftest(engine, nullptr);
  };
  EXPECT_EQ(selftest(tokens - 1), EMBERT_STATUS_TOO_MANY_TOKENS);
  EXPECT_EQ(selftest(tokens), EMBERT_STATUS_SELFTEST_FAILED);
  EXPECT_EQ(embert_selftest(nullptr, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
}

TEST(SelftestOfABlob, MayBeMissing) {
  const AlignedBytes blob(make_synthetic_blob(SyntheticModel()));
  const GuardedEngine engine(blob, {EMBERT_ISA_SCALAR, 1});
  EXPECT_EQ(embert_selftest(engine, nullptr), EMBERT_STATUS_NO_SELFTEST);
}

INSTANTIATE_TEST_SUITE_P(Heads, Selftest,
                         testing::Values(model_with(0), model_with(kHeadPooler | kHeadClassifier),
                                         model_with(kHeadPooler | kHeadTokenClassifier),
                                         model_with(kHeadLm | kHeadLmTransform),
                                         model_with(kHeadLm, kStackCausal), pair_model()));

}  // namespace
}  // namespace embert::test
