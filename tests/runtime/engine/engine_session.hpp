// SPDX-License-Identifier: Apache-2.0
// The start of most tests in this folder: a model opened from bytes, an engine in an arena of
// exactly the needed size, and random inputs.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "embert/embert_run.h"
#include "tests/support/synthetic_blob.hpp"
#include "tests/support/system/run_threads.hpp"

namespace embert::test {

inline embert_input make_input(const std::int32_t* ids, const std::int32_t* type_ids,
                               const std::uint32_t* lengths, std::size_t batch) {
  embert_input input = {.size = sizeof(input)};
  input.ids = ids;
  input.type_ids = type_ids;
  input.lengths = lengths;
  input.batch = static_cast<std::uint32_t>(batch);
  return input;
}

inline embert_model open_model(const AlignedBytes& blob,
                               std::uint32_t isa_mask = EMBERT_ISA_SCALAR) {
  embert_model model = {};
  EXPECT_EQ(embert_model_open(blob.data(), blob.size(), isa_mask, &model), EMBERT_STATUS_OK);
  return model;
}

inline std::size_t arena_bytes(const embert_model& model, const embert_options& options) {
  std::size_t bytes = 0;
  EXPECT_EQ(embert_arena_bytes(&model, &options, &bytes), EMBERT_STATUS_OK);
  return bytes;
}

/// An engine in `arena`, which gets exactly the needed size; null after a failure.
inline embert_engine* make_engine(const embert_model& model, const embert_options& options,
                                  AlignedBytes& arena) {
  arena = AlignedBytes(arena_bytes(model, options));
  embert_engine* engine = nullptr;
  EXPECT_EQ(embert_engine_init(&model, &options, arena.data(), arena.size(), &engine),
            EMBERT_STATUS_OK);
  return engine;
}

/// Random texts for a model.
struct Texts {
  std::vector<std::int32_t> ids, type_ids;
  std::vector<std::uint32_t> lengths;

  Texts(const SyntheticModel& model, const std::vector<std::uint32_t>& text_lengths,
        std::uint64_t seed)
      : lengths(text_lengths) {
    std::mt19937_64 random(seed);
    for (std::uint32_t length : lengths) {
      for (std::uint32_t i = 0; i < length; ++i) {
        ids.push_back(static_cast<std::int32_t>(random() % model.vocab_size));
        type_ids.push_back(static_cast<std::int32_t>(random() % model.type_vocab_size));
      }
    }
  }
  embert_input input() const {
    return make_input(ids.data(), type_ids.data(), lengths.data(), lengths.size());
  }
};

}  // namespace embert::test
