// SPDX-License-Identifier: Apache-2.0
// The engine: what one inference needs beside the model, at the start of the arena.
#pragma once

#include "kernels/dispatch.hpp"
#include "runtime/engine/arena_plan.hpp"
#include "runtime/model/model.hpp"

namespace embert {

struct Engine {
  Model model;
  Kernels kernels;
  embert_options options;
  uint64_t rows;          ///< tokens whose last hidden state the last call left in the arena
  uint32_t texts;         ///< in the cache of a decoder
  uint32_t source_texts;  ///< whose encoder states are attended

  /// A buffer of the arena, which starts with this object.
  template <typename T>
  T* at(uint64_t offset) {
    return reinterpret_cast<T*>(reinterpret_cast<uint8_t*>(this) + offset);
  }
  template <typename T>
  const T* at(uint64_t offset) const {
    return reinterpret_cast<const T*>(reinterpret_cast<const uint8_t*>(this) + offset);
  }
};
static_assert(sizeof(Engine) <= kEngineBytes, "the engine has its fixed place in the arena");

/// The stack that texts of embert_run go into, and the heads stand on.
static inline size_t last_stack(const Engine& engine) {
  return engine.model.header->num_stacks - 1;
}

static inline bool is_decoder(const Engine& engine) {
  return (engine.model.header->stacks[last_stack(engine)].flags & kStackCausal) != 0;
}

}  // namespace embert

/// The public name of the engine.
struct embert_engine : embert::Engine {};
