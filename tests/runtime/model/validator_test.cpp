// SPDX-License-Identifier: Apache-2.0
// Hostile blobs: a case for each rule of FORMAT.md with its exact status, every truncation, and
// random damage.
#include <random>

#include "embert/embert_inspect.h"
#include "embert/embert_run.h"

#include "tests/runtime/model/blob_fields.hpp"
#include "tests/support/system/isa_masks.hpp"

namespace embert::test {
namespace {

class ModelCheck : public BlobFields {
 protected:
  ModelCheck() : BlobFields(small()) {}

  static SyntheticModel small() {
    SyntheticModel model = small_model();
    model.selftest_ids = {3, 1, 4, 1};
    model.optional = {prompts_section(2, 1, std::string("passage\0p: \0query\0q: \0", 22))};
    return model;
  }
  /// Opens a blob and classifies a short text with it, in an arena of exactly the needed size.
  static embert_status run(const AlignedBytes& blob, std::uint32_t isa_mask,
                           std::vector<std::int32_t>& logits) {
    embert_model model;
    const embert_status opened = embert_model_open(blob.data(), blob.size(), isa_mask, &model);
    if (opened != EMBERT_STATUS_OK) return opened;
    const embert_options options = embert_options_default(&model);
    AlignedBytes arena(arena_bytes(model, options));
    embert_engine* engine = nullptr;
    EXPECT_EQ(embert_engine_init(&model, &options, arena.data(), arena.size(), &engine),
              EMBERT_STATUS_OK);
    const std::int32_t ids[] = {0, 1, 2, 3, 4};
    const std::uint32_t length = std::min<std::uint32_t>(5, options.max_tokens);
    const embert_input input = make_input(ids, nullptr, &length, 1);
    embert_model_info info = {.size = sizeof(info)};
    EXPECT_EQ(embert_model_get_info(&model, &info), EMBERT_STATUS_OK);
    logits.assign(info.num_labels, 0);
    std::vector<std::int32_t> none(1);
    return embert_classify(engine, &input, logits.empty() ? none.data() : logits.data(), nullptr);
  }
};

TEST_F(ModelCheck, AcceptsTheBlobItself) { EXPECT_EQ(open(false), EMBERT_STATUS_OK); }

TEST_F(ModelCheck, RefusesEveryTruncation) {
  embert_model model;
  for (std::size_t size = 0; size < blob_.size(); ++size) {
    ASSERT_EQ(embert_model_open(blob_.data(), size, EMBERT_ISA_SCALAR, &model),
              EMBERT_STATUS_BLOB_TRUNCATED)
        << size;
  }
}

TEST_F(ModelCheck, RefusesEveryFlippedByte) {
  for (std::size_t i = 0; i < blob_.size(); ++i) {
    blob_.data()[i] ^= 0x10;
    const embert_status status = open(false);
    ASSERT_NE(status, EMBERT_STATUS_OK) << i;
    if (i >= kBlobCrcStart + 8) {
      ASSERT_EQ(status, EMBERT_STATUS_BLOB_CHECKSUM) << i;
    }
    blob_.data()[i] ^= 0x10;
  }
}

TEST_F(ModelCheck, RefusesABlobThatIsNotOne) {
  embert_model model;
  EXPECT_EQ(embert_model_open(nullptr, 0, EMBERT_ISA_SCALAR, &model), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_model_open(blob_.data(), blob_.size(), EMBERT_ISA_SCALAR, nullptr),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_model_open(blob_.data(), blob_.size(), 1u << 31, &model), EMBERT_STATUS_ISA);
  EXPECT_EQ(embert_model_open(blob_.data() + 1, blob_.size() - 1, EMBERT_ISA_SCALAR, &model),
            EMBERT_STATUS_BLOB_MISALIGNED);
  expect(header().magic[0], 'E', EMBERT_STATUS_BLOB_MAGIC, "magic");
  expect(header().version, 2, EMBERT_STATUS_BLOB_VERSION, "version");
  expect(header().version, 5, EMBERT_STATUS_BLOB_VERSION, "version");
  expect(header().layout, 0, EMBERT_STATUS_LAYOUT, "layout");
  expect(header().layout, 3, EMBERT_STATUS_LAYOUT, "layout");
  // These weights are in the other order, so their sums are wrong.
  expect(header().layout, kLayoutN8K16,
         kOpensN8K16 ? EMBERT_STATUS_BLOB_VALUE : EMBERT_STATUS_LAYOUT, "layout");
  expect(header().blob_bytes, blob_.size() + 1, EMBERT_STATUS_BLOB_TRUNCATED, "blob_bytes");
  EXPECT_EQ(open(), EMBERT_STATUS_OK);
  header().blob_bytes = 8;
  EXPECT_EQ(open(false), EMBERT_STATUS_BLOB_HEADER);
}

class ModelInN8K16 : public BlobFields {
 protected:
  ModelInN8K16() : BlobFields(in_n8k16()) {}

  static SyntheticModel in_n8k16() {
    SyntheticModel model = small_model();
    model.weight_order = RhsOrder::kN8K16;
    return model;
  }
};

// Every weight is in the sum of its column. Of 20 inputs the last 4 lie as in n16k4.
TEST_F(ModelInN8K16, HasTheSumsOfItsColumns) {
  if (!kOpensN8K16) {
    EXPECT_EQ(open(), EMBERT_STATUS_LAYOUT);
    return;
  }
  ASSERT_EQ(open(), EMBERT_STATUS_OK);
  auto* up = contents<std::int8_t>(kSectionFfnUp);
  expect_dense(up, 24, 20);
  expect_residual_dense(contents<std::int8_t>(kSectionAttnOut), 20, 20);
  for (std::size_t n = 0; n < 24; ++n) {
    for (std::size_t k = 0; k < 20; ++k) {
      std::int8_t& weight = up[n8k16_index(n, k, 20)];
      bad_value(weight, weight > 0 ? weight - 1 : weight + 1, "weight");
      std::int8_t& other = up[n8k16_index((n + 1) % 24, k, 20)];
      if (weight == other) continue;
      std::swap(weight, other);
      EXPECT_EQ(open(), EMBERT_STATUS_BLOB_VALUE) << n << ", " << k;
      std::swap(weight, other);
    }
  }
  EXPECT_EQ(open(), EMBERT_STATUS_OK);
}

TEST_F(ModelCheck, RefusesHeaderFieldsOutOfRange) {
  const auto bad = [&](auto& field, auto value, const char* what) {
    expect(field, value, EMBERT_STATUS_BLOB_HEADER, what);
  };
  BlobHeader& h = header();
  bad(h.section_count, h.section_count - 2, "section_count");  // the last one is optional
  bad(h.num_stacks, 0u, "num_stacks");
  bad(h.num_stacks, 2u, "num_stacks");
  bad(h.num_stacks, 3u, "num_stacks");
  BlobStack& s = h.stacks[0];
  bad(s.flags, (1u << 20), "flags");
  bad(s.flags, kStackCrossAttention, "cross-attention without a width");
  bad(s.cross_hidden_size, 20u, "cross_hidden_size without cross-attention");
  bad(s.hidden_size, 0u, "hidden_size");
  bad(s.hidden_size, 4097u, "hidden_size");
  bad(s.num_layers, 0u, "num_layers");
  bad(s.num_layers, 49u, "num_layers");
  bad(s.num_heads, 0u, "num_heads");
  bad(s.num_heads, 129u, "num_heads");
  bad(s.num_heads, 3u, "num_heads, larger than any layer's");
  bad(s.head_size, 0u, "head_size");
  bad(s.head_size, 129u, "head_size");
  bad(s.intermediate_size, 0u, "intermediate_size");
  bad(s.intermediate_size, 4225u, "intermediate_size");
  bad(s.intermediate_size, 25u, "intermediate_size, larger than any layer's");
  bad(s.vocab_size, 0u, "vocab_size");
  bad(s.vocab_size, (1u << 20) + 1, "vocab_size");
  bad(s.max_positions, 0u, "max_positions");
  bad(s.max_positions, 513u, "max_positions");
  bad(s.type_vocab_size, 0u, "type_vocab_size");
  bad(s.type_vocab_size, 17u, "type_vocab_size");
  bad(s.activation, 5u, "activation");
  bad(s.position_kind, 3u, "position_kind");
  bad(s.final_norm.epsilon_n2, 0, "final_norm.epsilon_n2");
  bad(s.final_norm.epsilon_n2, (int64_t{1} << 54) + 1, "final_norm.epsilon_n2");
  bad(s.final_norm.shift, 0, "no final_norm");
  bad(s.final_norm.shift, 7, "final_norm.shift");
  bad(s.final_norm.shift, 39, "final_norm.shift");
  bad(s.final_norm.reserved, 1, "final_norm.reserved");
  bad(h.stacks[1].vocab_size, 1u, "numbers of a stack that is not there");
  bad(h.max_tokens, 0u, "max_tokens");
  bad(h.max_tokens, 9u, "max_tokens, more than positions");
  bad(h.pooling, 3u, "pooling");
  bad(h.normalize, 2u, "normalize");
  bad(h.task_heads, 128u, "heads");
  bad(h.task_heads, kHeadClassifier, "classifier without pooler");
  bad(h.task_heads, h.task_heads | kHeadLmUntied, "rows of a language model without the head");
  bad(h.task_heads, h.task_heads | kHeadLmTransform,
      "transform of a language model without the head");
  bad(h.task_heads, h.task_heads | kHeadProjection, "projection with one stack");
  bad(h.task_heads, h.task_heads | kHeadTokenClassifier, "token classifier without labels");
  bad(h.classifier_task, 3u, "classifier_task");
  bad(h.problem, 3u, "problem");
  bad(h.num_labels, 0u, "num_labels");
  bad(h.num_labels, 4097u, "num_labels");
  bad(h.token_task, 2u, "token_task");
  bad(h.token_task, kTaskAnswer, "an answer without two labels");
  bad(h.num_token_labels, 2u, "num_token_labels without token classifier");
  bad(h.start_id, 12u, "start_id");
  bad(h.end_id, 12u, "end_id");
  bad(h.lm_exponent, 10, "lm_exponent without transform");
  bad(h.lm_shift, 1, "lm_shift without language model");
  bad(h.lm_norm.shift, 8, "lm_norm without transform");
  bad(h.pooler.join_shift, 9, "pooler.join_shift");
  bad(h.pooler.join_shift, -1, "pooler.join_shift");
  bad(h.pooler.shifts.left, 16, "pooler.shifts.left");
  bad(h.classifier.shifts.right, 32, "classifier.shifts.right");
  bad(h.classifier.reserved, 1, "classifier.reserved");
  bad(h.token_classifier.join_shift, 1, "numbers of a head that is not there");
  bad(h.reserved[0], 1, "reserved");
  bad(h.reserved[sizeof(h.reserved) - 1], 1, "reserved");
}

TEST_F(ModelCheck, RefusesSectionsOutOfPlace) {
  const auto bad = [&](auto& field, auto value, const char* what) {
    expect(field, value, EMBERT_STATUS_BLOB_SECTION, what);
  };
  for (std::uint32_t kind :
       {kSectionLayers, kSectionWordEmbeddings, kSectionQkv, kSectionRelativePositions,
        kSectionFfnDown, kSectionPooler, kSectionLmRows, kSectionTokenizer, kSectionCertificate,
        kSectionSelftest}) {
    const bool of_layer = kind >= kFirstLayerSection && kind < kSectionFinalNorm;
    BlobSection& s = section(kind, of_layer ? 1 : 0);
    bad(s.kind, kind + 1, "kind");
    bad(s.stack, 1, "stack");
    bad(s.layer, 7, "layer");
    bad(s.offset, s.offset + 64, "offset");
    bad(s.offset, std::uint64_t{1} << 63, "offset");
    bad(s.bytes, s.bytes + 64, "bytes");
    bad(s.bytes, ~std::uint64_t{0}, "bytes");
    if (s.bytes > 0) bad(s.bytes, s.bytes - 1, "bytes");
  }
  const BlobSection& scores = section(kSectionScores, 0);  // 16 bytes, so padding follows
  bad(blob_.data()[scores.offset + scores.bytes], 1, "padding");
}

TEST_F(ModelCheck, RefusesValuesOutOfRange) {
  const auto bad = [&](auto& field, auto value, const char* what) {
    expect(field, value, EMBERT_STATUS_BLOB_VALUE, what);
  };
  for (std::uint32_t layer : {0u, 1u}) {
    BlobLayer& l = contents<BlobLayer>(kSectionLayers)[layer];
    bad(l.num_heads, 0u, "num_heads");
    bad(l.num_heads, 3u, "num_heads");
    bad(l.intermediate_size, 0u, "intermediate_size");
    bad(l.intermediate_size, 25u, "intermediate_size");
    bad(l.activation_exponent, 4, "activation_exponent");
    bad(l.activation_exponent, 13, "activation_exponent");
    bad(l.reserved, 1u, "reserved");
    bad(l.cross_join_shift, 1, "cross-attention's number without it");
    bad(l.cross.query.left, 1, "cross-attention's shift without it");
    bad(l.norm_after_cross.shift, 8, "cross-attention's norm without it");
    for (BlobShifts* s : {&l.self.query, &l.self.key, &l.self.value, &l.self.context, &l.self.out,
                          &l.query_relative, &l.key_relative, &l.ffn_up, &l.ffn_down}) {
      expect_shifts(*s);
    }
    for (BlobNorm* n : {&l.input_norm, &l.norm_after_attn}) expect_norm_record(*n);
    expect_dense(contents<std::int8_t>(kSectionQkv, layer), 96, 20);
    expect_dense(contents<std::int8_t>(kSectionFfnUp, layer), 24, 20);
    expect_residual_dense(contents<std::int8_t>(kSectionAttnOut, layer), 20, 20);
    expect_residual_dense(contents<std::int8_t>(kSectionFfnDown, layer), 20, 24);
    bad(*contents<std::int32_t>(kSectionContext, layer), -1, "multiplier");
    expect_scores(contents<std::uint32_t>(kSectionScores, layer), 2);
    expect_norm(contents<std::int32_t>(kSectionInputNorm, layer), 20);
    expect_norm(contents<std::int32_t>(kSectionNormAfterAttn, layer), 20);
  }
  bad(contents<BlobLayer>(kSectionLayers)[1].input_norm.shift, 0, "a layer without its norm");
  bad(*contents<std::int8_t>(kSectionWordEmbeddings), -128, "word embedding");
  bad(*contents<std::int32_t>(kSectionWordMultipliers), -1, "word multiplier");
  bad(*contents<std::int32_t>(kSectionWordMultipliers), 16909321, "word multiplier");
  bad(*contents<std::int16_t>(kSectionSegments), 1, "segment 0");
  expect_norm(contents<std::int32_t>(kSectionFinalNorm), 20);
  expect_dense(contents<std::int8_t>(kSectionPooler), 20, 20);
  expect_dense(contents<std::int8_t>(kSectionClassifier), 5, 20);
  bad(*contents<char>(kSectionLabels), '\0', "one label name too many");
  bad(contents<char>(kSectionLabels)[section(kSectionLabels).bytes - 1], 'x',
      "last label name without end");
}

TEST_F(ModelCheck, RefusesASelftestThatCanNotRun) {
  BlobSelftest& test = *contents<BlobSelftest>(kSectionSelftest);
  std::int32_t* ids = reinterpret_cast<std::int32_t*>(&test + 1);
  bad_value(test.tokens, 0u, "tokens");
  bad_value(test.tokens, 9u, "tokens");  // max_tokens is 8
  bad_value(test.tokens, UINT32_MAX, "tokens");
  bad_value(ids[0], -1, "id");
  bad_value(ids[3], 12, "id");
  // The section has 4 ids, and the model no tokenizer that could read a text.
  expect(test.tokens, 3u, EMBERT_STATUS_BLOB_SECTION, "tokens");
  expect(test.tokens, 5u, EMBERT_STATUS_BLOB_SECTION, "tokens");
}

TEST_F(ModelCheck, RefusesABrokenTokenizer) {
  AlignedBytes blob(make_synthetic_blob(small(), std::vector<std::uint8_t>(256, 7)));
  embert_model model;
  EXPECT_EQ(embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model),
            EMBERT_STATUS_BLOB_TOKENIZER);
}

// Any byte string is refused, or safe to run with the same bits on every ISA: damage with a right
// checksum. The sanitizer build runs this, too.
TEST_F(ModelCheck, RandomDamageIsRefusedOrSafe) {
  const std::vector<std::uint8_t> good = make_synthetic_blob(small());
  std::mt19937_64 random(20240611);
  int ran = 0;
  for (int round = 0; round < 3000; ++round) {
    AlignedBytes blob(good);
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < changes; ++i) {
      // Half of the damage hits header, table and layer records, the rest anything.
      const std::size_t reach = random() % 2 == 0 ? 3000 : good.size();
      blob.data()[random() % reach] = static_cast<std::uint8_t>(random());
    }
    seal_blob(blob.data(), blob.size());
    std::vector<std::int32_t> answers[2];
    embert_status statuses[2];
    for (int fast = 0; fast < 2; ++fast) {
      statuses[fast] = run(blob, fast == 0 ? EMBERT_ISA_SCALAR : runnable_isas(), answers[fast]);
    }
    ran += statuses[0] == EMBERT_STATUS_OK ? 1 : 0;
    ASSERT_EQ(statuses[0], statuses[1]) << round;
    ASSERT_EQ(answers[0], answers[1]) << round;
  }
  EXPECT_GT(ran, 100);  // the test reaches the forward pass
}

}  // namespace
}  // namespace embert::test
