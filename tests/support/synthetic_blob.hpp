// SPDX-License-Identifier: Apache-2.0
// A valid blob with seeded random weights, made without the converter: tests of the validator, the
// arena and the runtime's bits run where the converter does not (boards, emulators). Its scales
// keep activations in sensible ranges.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/arithmetic/layout.hpp"
#include "runtime/format/blob_format.hpp"

namespace embert::test {

/// Bytes at a 64-byte aligned address.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t size);
  explicit AlignedBytes(const std::vector<std::uint8_t>& bytes);
  std::uint8_t* data() { return data_; }
  const std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::unique_ptr<std::uint8_t[]> storage_;
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

struct SyntheticSection {
  std::uint32_t kind;  ///< BlobOptionalKind, or one that is not known
  std::vector<std::uint8_t> bytes;
  std::uint32_t layer = 0;
};

/// The sizes and options of a model with one stack, or with two: a decoder and its encoder.
struct SyntheticModel {
  std::uint32_t hidden_size = 64, num_layers = 2, num_heads = 4, head_size = 16,
                intermediate_size = 128;
  std::uint32_t vocab_size = 100, max_positions = 64, type_vocab_size = 2;
  std::uint32_t activation = kActivationGelu, position_kind = kPositionTable;
  std::uint32_t flags = 0;                      ///< BlobStackFlags; sections of flags are made
  std::uint32_t rotary_tables = 1;              ///< with kStackRotary
  BlobLocalAttention local_attention = {2, 5};  ///< with kStackLocalAttention
  std::uint32_t embedding_size = 12;            ///< with kStackEmbeddingProjection
  /// Of all layers with kStackPlanes.
  BlobPlanes planes = {kPlanesAll, kPlanesAll, kPlanesAll, kPlanesAll, kPlanesAll};
  std::vector<BlobSharedLayer> shared = {};  ///< [num_layers] with kStackSharedLayers
  BlobBottleneck bottleneck = {24, 3, kBottleneckShared, 0};  ///< with kStackBottleneck
  bool layer_norms = true;                                    ///< false only with kStackBottleneck
  std::uint32_t word_size = 20, words = 3;                    ///< with kStackWordProjection
  std::uint32_t cross_hidden_size = 0;  ///< of the states that are attended; 0: hidden_size
  std::uint32_t pruned_heads = 0;       ///< of the last layer, which is not the only one
  bool embedding_norm = true;
  std::vector<SyntheticModel> encoder = {};  ///< none or one, with kStackCrossAttention
  std::uint32_t pooling = kPoolingMean, normalize = 1;
  /// BlobTaskHeads. Their optional sections are made, too.
  std::uint32_t heads = kHeadPooler | kHeadClassifier;
  std::uint32_t num_labels = 5, num_token_labels = 3;
  std::uint32_t start_id = UINT32_MAX, end_id = UINT32_MAX;
  std::vector<std::int32_t> selftest_ids = {};  ///< with the checksum 0; empty: no self-test
  std::vector<SyntheticSection> optional = {};  ///< behind the required sections
  std::string certificate = "{}";
  std::uint64_t seed = 1;
  RhsOrder weight_order = RhsOrder::kN16K4;  ///< of dense layers
};

/// The section kSectionPrompts; strings: name, text, name, text ..., each with its zero byte.
SyntheticSection prompts_section(std::uint32_t count, std::uint32_t default_prompt,
                                 const std::string& strings);

/// A decoder and an encoder of a model's sizes, the encoder with 48 layers and a section of planes
/// for them. Only a model of one stack may have such a section: refused, its contents unread.
SyntheticModel planes_of_two_stacks(const SyntheticModel& sizes);

/// Header, sections and checksum; the tokenizer section is `tokenizer` (may be empty).
std::vector<std::uint8_t> make_synthetic_blob(const SyntheticModel& model,
                                              const std::vector<std::uint8_t>& tokenizer = {});

/// Writes the right checksum into a blob whose bytes were changed.
void seal_blob(std::uint8_t* blob, std::size_t size);

}  // namespace embert::test
