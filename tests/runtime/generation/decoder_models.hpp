// SPDX-License-Identifier: Apache-2.0
// Small decoders of every kind, and the sources of those that attend one.
#pragma once

#include <string>

#include "embert/embert_lm.h"
#include "tests/runtime/engine/guarded_engine.hpp"

namespace embert::test {

struct NamedModel {
  std::string name;
  SyntheticModel shape;

  bool has_source() const { return (shape.flags & kStackCrossAttention) != 0; }
  friend void PrintTo(const NamedModel& model, std::ostream* out) { *out << model.name; }
};

inline SyntheticModel small_decoder(std::uint32_t flags, std::uint32_t position_kind) {
  SyntheticModel model;
  model.hidden_size = 36;
  model.num_heads = 3;
  model.head_size = 10;  // no multiple of 4; all heads together are narrower than a row
  model.intermediate_size = 50;
  model.vocab_size = 60;
  model.max_positions = 48;
  model.flags = kStackCausal | flags;
  model.position_kind = position_kind;
  model.heads = kHeadLm;
  model.cross_hidden_size = 20;
  return model;
}

inline std::vector<NamedModel> decoders() {
  std::vector<NamedModel> models = {
      {"absolute", small_decoder(0, kPositionTable)},
      {"relative_key", small_decoder(0, kPositionRelativeKey)},
      {"relative_key_query", small_decoder(0, kPositionRelativeKeyQuery)},
      {"pre_norm", small_decoder(kStackPreNorm, kPositionTable)},
      {"planes", small_decoder(kStackPlanes, kPositionTable)},
      {"first_planes", small_decoder(kStackPlanes, kPositionRelativeKeyQuery)},
      {"cross_attention", small_decoder(kStackCrossAttention, kPositionTable)},
      {"everything",
       small_decoder(kStackCrossAttention | kStackPreNorm, kPositionRelativeKeyQuery)}};
  models[5].shape.planes = {.qkv = kPlanesFirst, .ffn_up = kPlanesAll, .probabilities = kPlanesAll};
  models.back().shape.pruned_heads = 1;
  models.back().shape.head_size = 21;
  return models;
}

/// Encoder states for a decoder.
struct Source {
  std::vector<std::uint32_t> lengths;
  std::vector<std::int16_t> states;
  std::vector<std::uint8_t> mask;
  embert_scale scale = {(127u - 12u) << 23};

  Source(const std::vector<std::uint32_t>& source_lengths, std::size_t width)
      : lengths(source_lengths) {
    const std::size_t tokens = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
    std::mt19937_64 random(77);
    for (std::size_t i = 0; i < tokens * width; ++i) {
      states.push_back(static_cast<std::int16_t>(static_cast<int>(random() % 16000) - 8000));
    }
    mask = random_mask(tokens, random);
  }
  void set(embert_engine* engine) const {
    const embert_source source = {.size = sizeof(source),
                                  .states = states.data(),
                                  .lengths = lengths.data(),
                                  .batch = static_cast<std::uint32_t>(lengths.size()),
                                  .scale = scale,
                                  .mask = mask.data()};
    EXPECT_EQ(embert_set_source(engine, &source), EMBERT_STATUS_OK);
  }
};

}  // namespace embert::test
