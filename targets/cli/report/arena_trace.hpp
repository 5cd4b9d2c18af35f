// SPDX-License-Identifier: Apache-2.0
// Records the bytes of the arena that each step of a pass writes. The areas are those of the
// runtime's own plan; the writes are found by comparing the arena before and after each step of a
// real pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "embert/embert.h"

namespace embert::cli {

struct ArenaArea {
  std::string name;
  size_t offset, bytes;
};

struct ByteRange {
  size_t offset, bytes;
};

struct ArenaStep {
  std::string name;
  std::vector<ByteRange> written;  ///< ascending, in whole cache lines of 64 bytes
};

struct ArenaTrace {
  uint32_t tokens;
  size_t bytes;  ///< of the whole arena
  std::vector<ArenaArea> areas;
  std::vector<ArenaArea> scratch;  ///< of a thread; `bytes` go to the next buffer that it has
  std::vector<ArenaStep> steps;
};

/// The runtime tells its steps to threads, so the pass has two.
inline constexpr uint32_t kTraceThreads = 2;

/// One text of `tokens` random tokens. Nothing for pairs of stacks and for static embeddings, which
/// have no such steps.
std::optional<ArenaTrace> trace_arena(const embert_model& model, uint32_t tokens);

}  // namespace embert::cli
