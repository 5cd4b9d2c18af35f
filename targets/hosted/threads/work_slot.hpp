// SPDX-License-Identifier: Apache-2.0
// Each thread needs this to run a model: an arena, the engine in it, and buffers for a pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "embert/embert_run.h"
#include "targets/hosted/model/model_file.hpp"

namespace embert::hosted {

/// The most tokens of a pass, unless a single text is longer. The arena grows with it; larger
/// passes are hardly faster (the README of targets/hosted has the table).
constexpr uint32_t kTokensPerPass = 512;

/// The longest text and the most texts of a pass.
struct PassShape {
  uint32_t max_tokens = 0, max_batch = 0;
  bool operator==(const PassShape&) const = default;
};

/// The texts of one pass, one after another.
struct Batch {
  std::vector<int32_t> ids, type_ids;  ///< [tokens]; no type_ids: zeros
  std::vector<uint32_t> lengths;       ///< [texts]

  void clear();
  void add(const std::vector<int32_t>& text_ids, const std::vector<int32_t>& text_type_ids);
  embert_input input() const;
};

/// Throws UsageError if the model tells no second text from the first; any other status is a fault.
void check_pass(const ModelFile& file, embert_status status);

class WorkSlot {
 public:
  /// max_tokens: the longest text that will be run.
  WorkSlot(const ModelFile& file, uint32_t max_tokens);

  /// Returns an engine for passes of this shape, with an empty KV cache. The arena has room for one
  /// text of any length and for passes of kTokensPerPass; it grows for others.
  embert_engine* engine(PassShape shape);
  /// The options of the engine of this shape.
  embert_options options(PassShape shape) const;

  /// Buffers for whoever has the slot; they keep their memory.
  Batch batch;
  std::vector<int16_t> vectors;  ///< [texts x vector_size]
  std::vector<int32_t> logits;   ///< [texts x num_labels]

 private:
  void reserve(size_t bytes);

  struct ArenaDeleter {
    void operator()(void* arena) const;
  };
  const ModelFile& file_;
  std::unique_ptr<void, ArenaDeleter> arena_;
  size_t arena_bytes_ = 0;
  PassShape shape_;
  embert_engine* engine_ = nullptr;
};

}  // namespace embert::hosted
