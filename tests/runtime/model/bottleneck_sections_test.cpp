// SPDX-License-Identifier: Apache-2.0
// Hostile blobs of a stack with the options that MobileBERT brought: bottlenecks, several
// feed-forward networks, words with their neighbours.
#include "embert/embert_inspect.h"
#include "tests/runtime/model/blob_fields.hpp"

namespace embert::test {
namespace {

constexpr std::uint32_t kMobileFlags = kStackBottleneck | kStackWordProjection;
constexpr std::size_t kHidden = 28, kIntra = 20, kInner = 24, kWord = 12;

SyntheticModel mobile(std::uint32_t kind = kBottleneckShared, bool layer_norms = true) {
  SyntheticModel model;
  model.hidden_size = kHidden;
  model.num_heads = 2;
  model.head_size = 10;
  model.intermediate_size = kInner;
  model.vocab_size = 12;
  model.max_positions = 8;
  model.flags = kMobileFlags;
  model.bottleneck = {kind == kBottleneckNone ? std::uint32_t{kHidden} : std::uint32_t{kIntra}, 3,
                      kind, 0};
  model.layer_norms = layer_norms;
  model.word_size = kWord;
  return model;
}

class BottleneckSections : public BlobFields {
 protected:
  BottleneckSections() : BlobFields(mobile()) {}
  void bad_section(auto& field, auto value, const char* what) {
    expect(field, value, EMBERT_STATUS_BLOB_SECTION, what);
  }
  void bad_header(auto& field, auto value, const char* what) {
    expect(field, value, EMBERT_STATUS_BLOB_HEADER, what);
  }
  static std::string status_of(const SyntheticModel& shape) {
    const AlignedBytes blob(make_synthetic_blob(shape));
    embert_model model;
    return embert_status_name(
        embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model));
  }
  /// The array behind a residual dense layer [n] x [k].
  static std::int8_t* behind_residual(std::int8_t* weights, std::size_t n, std::size_t k) {
    return reinterpret_cast<std::int8_t*>(behind_weights(weights, n, k, 4));
  }
};

TEST_F(BottleneckSections, AreAccepted) {
  EXPECT_EQ(open(false), EMBERT_STATUS_OK);
  for (std::uint32_t kind = 0; kind < kBottleneckKindCount; ++kind) {
    for (const bool layer_norms : {false, true}) {
      SyntheticModel shape = mobile(kind, layer_norms);
      EXPECT_EQ(status_of(shape), "EMBERT_STATUS_OK") << kind << layer_norms;
      shape.bottleneck.num_ffns = 1;
      shape.words = 1;
      EXPECT_EQ(status_of(shape), "EMBERT_STATUS_OK") << kind << layer_norms;
      shape.flags = kStackBottleneck;
      EXPECT_EQ(status_of(shape), "EMBERT_STATUS_OK") << kind << layer_norms;
    }
  }
  SyntheticModel plain = mobile();
  plain.flags = kStackWordProjection;
  EXPECT_EQ(status_of(plain), "EMBERT_STATUS_OK");
}

TEST_F(BottleneckSections, HeaderIsChecked) {
  BlobStack& stack = header().stacks[0];
  for (const std::uint32_t other : {kStackCausal, kStackPreNorm, kStackPaddingPosition,
                                    kStackScoreBias, kStackEmbeddingProjection, kStackSharedLayers,
                                    kStackRotary, kStackLocalAttention, kStackGatedFfn}) {
    bad_header(stack.flags, kMobileFlags | other, "flags that exclude each other");
  }
  bad_header(stack.position_kind, 1u, "relative positions");
  bad_header(stack.final_norm.epsilon_n2, 0, "half a LayerNorm");
  bad_header(header().task_heads, header().task_heads | kHeadLm,
             "a language model on rows of another width");
  SyntheticModel pair = mobile();
  pair.flags = kStackCausal | kStackCrossAttention;
  pair.encoder = {mobile()};
  EXPECT_EQ(status_of(pair), embert_status_name(EMBERT_STATUS_BLOB_HEADER));
}

TEST_F(BottleneckSections, FlagsAndSectionsGoTogether) {
  BlobStack& stack = header().stacks[0];
  bad_section(stack.flags, kStackBottleneck, "flags");
  bad_section(stack.flags, kStackWordProjection, "flags");
  for (const auto kind : {kSectionBottleneck, kSectionWordProjection}) {
    bad_section(section(kind).bytes, section(kind).bytes + 4, "bytes");
    bad_section(section(kind).bytes, section(kind).bytes - 4, "bytes");
    bad_section(section(kind).bytes, 0, "bytes");
  }
  for (const auto kind : {kSectionLayerBottleneck, kSectionStackedFfn}) {
    for (const std::uint32_t layer : {0u, 1u}) {
      BlobSection& entry = section(kind, layer);
      bad_section(entry.bytes, entry.bytes + 4, "bytes");
      bad_section(entry.bytes, entry.bytes - 4, "bytes");
      bad_section(entry.bytes, 0, "bytes");
      bad_section(entry.layer, 1 - layer, "layer");
      bad_section(entry.layer, 2u, "layer");
      bad_section(entry.stack, 1u, "stack");
      bad_section(entry.kind, 264u, "kind");
    }
  }
  BlobBottleneck& record = *contents<BlobBottleneck>(kSectionBottleneck);
  bad_section(record.num_ffns, 1u, "feed-forward networks that the record does not name");
  bad_section(record.num_ffns, 2u, "a feed-forward network too many");
  bad_value(record.num_ffns, 4u, "weights in the place of a record");
  bad_section(record.kind, kBottleneckOutput, "queries and keys of another width");
  bad_section(record.kind, kBottleneckInput, "values in a section of their own");
  bad_section(record.intra_size, 16u, "blocks of another width");
}

TEST_F(BottleneckSections, RecordsAreChecked) {
  BlobBottleneck& record = *contents<BlobBottleneck>(kSectionBottleneck);
  bad_value(record.intra_size, 0u, "intra_size");
  bad_value(record.intra_size, kHidden + 1, "intra_size");
  bad_value(record.num_ffns, 0u, "num_ffns");
  bad_value(record.num_ffns, kMaxFfns + 1, "num_ffns");
  bad_value(record.kind, 4u, "kind");
  bad_value(record.kind, kBottleneckNone, "a narrow layer without bottlenecks");
  bad_value(record.reserved, 1u, "reserved");

  BlobWordProjection& words = *contents<BlobWordProjection>(kSectionWordProjection);
  bad_value(words.word_size, 0u, "word_size");
  bad_value(words.word_size, kHidden + 1, "word_size");
  bad_value(words.words, 0u, "words");
  bad_value(words.words, 2u, "words");
  bad_value(words.words, 4u, "words");
  bad_section(words.words, 1u, "a projection of other words");
  bad_value(words.dense.join_shift, 9, "join_shift");
  expect_shifts(words.dense.shifts);
  bad_value(words.padding[39], 1u, "padding");
  expect_dense(reinterpret_cast<std::int8_t*>(&words + 1), kHidden, 3 * kWord);
}

TEST_F(BottleneckSections, LayersAreChecked) {
  for (const std::uint32_t layer : {0u, 1u}) {
    auto& record = *contents<BlobLayerBottleneck>(kSectionLayerBottleneck, layer);
    for (BlobNorm* norm : {&record.input_norm, &record.query_key_norm, &record.widening_norm}) {
      expect_norm_record(*norm);
      const BlobNorm good = *norm;
      *norm = {};
      bad_value(record.padding[0], 0u, "no LayerNorm where the stack has them");
      *norm = good;
    }
    for (BlobShifts* shifts : {&record.input, &record.query_key, &record.output}) {
      expect_shifts(*shifts);
    }
    bad_value(record.padding[55], 1u, "padding");
    auto* at = reinterpret_cast<std::int8_t*>(&record + 1);
    for (std::size_t i = 0; i < 2; ++i) {
      expect_residual_dense(at, kIntra, kHidden);
      bad_value(*behind_weights(at, kIntra, kHidden, 2), 1, "a residual of nothing");
      at = behind_residual(at, kIntra, kHidden);
    }
    expect_dense(at, 2 * 16, kHidden);
    at = reinterpret_cast<std::int8_t*>(behind_weights(at, 2 * 16, kHidden, 3));
    expect_residual_dense(at, kHidden, kIntra);
    at = behind_residual(at, kHidden, kIntra);
    for (std::size_t i = 0; i < 3; ++i)
      expect_norm(reinterpret_cast<std::int32_t*>(at) + i * 2 * kIntra, kIntra);

    auto* ffns = contents<BlobStackedFfn>(kSectionStackedFfn, layer);
    at = reinterpret_cast<std::int8_t*>(ffns + 2);
    for (std::size_t i = 0; i < 2; ++i) {
      expect_norm_record(ffns[i].norm);
      bad_value(ffns[i].intermediate_size, 0u, "intermediate_size");
      bad_value(ffns[i].intermediate_size, kInner + 1, "wider than the stack says");
      bad_section(ffns[i].intermediate_size, 4u, "narrower than its weights");
      bad_value(ffns[i].activation_exponent, 4, "activation_exponent");
      bad_value(ffns[i].activation_exponent, 13, "activation_exponent");
      expect_shifts(ffns[i].up);
      expect_shifts(ffns[i].down);
      bad_value(ffns[i].padding[23], 1u, "padding");
      expect_dense(at, kInner, kIntra);
      at = reinterpret_cast<std::int8_t*>(behind_weights(at, kInner, kIntra, 3));
      expect_residual_dense(at, kIntra, kInner);
      at = behind_residual(at, kIntra, kInner);
    }
    for (std::size_t i = 0; i < 2; ++i)
      expect_norm(reinterpret_cast<std::int32_t*>(at) + i * 2 * kIntra, kIntra);
  }
}

// LayerNorms are all there, or none of them is.
TEST_F(BottleneckSections, NormsGoTogether) {
  BlobLayer* layers = contents<BlobLayer>(kSectionLayers);
  bad_value(layers[1].input_norm.shift, 0, "a layer without its norm");
  bad_value(layers[0].norm_after_attn.shift, 0, "a block without its norm");
  blob_ = AlignedBytes(make_synthetic_blob(mobile(kBottleneckShared, /*layer_norms=*/false)));
  const auto bad_norm = [&](BlobNorm& norm) {
    norm = {1000, 0, 0};
    bad_value(norm.shift, 17, "a norm too many");
    norm = {};
  };
  layers = contents<BlobLayer>(kSectionLayers);
  bad_norm(layers[1].input_norm);
  bad_norm(layers[0].norm_after_attn);
  auto& record = *contents<BlobLayerBottleneck>(kSectionLayerBottleneck, 1);
  bad_norm(record.input_norm);
  bad_norm(record.query_key_norm);
  bad_norm(record.widening_norm);
  bad_norm(contents<BlobStackedFfn>(kSectionStackedFfn)[1].norm);
  blob_ = AlignedBytes(make_synthetic_blob(mobile(kBottleneckInput)));
  auto& input = *contents<BlobLayerBottleneck>(kSectionLayerBottleneck, 0);
  bad_norm(input.query_key_norm);
  bad_value(input.query_key.right, 1, "shifts of rows that nobody reads");
}

}  // namespace
}  // namespace embert::test
