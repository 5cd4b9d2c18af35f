// SPDX-License-Identifier: Apache-2.0
// The engine: everything that a run needs beside the model. It lies at the start of the arena.
#pragma once

#include "embert/embert_run.h"
#include "kernels/dispatch.hpp"
#include "runtime/engine/arena_plan.hpp"
#include "runtime/model/model.hpp"

namespace embert {

struct Engine {
  Model model;
  Kernels kernels;
  embert_options options;
  ArenaPlan plan;
  uint32_t rows;          ///< tokens whose last hidden state the last call left in the arena
  uint32_t source_texts;  ///< texts whose encoder states cross-attention reads

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
static_assert(sizeof(Engine) <= kEngineBytes, "the engine fits its fixed room in the arena");

/// The stack that the texts of embert_run go into. The task heads stand on it.
static inline size_t last_stack(const Engine& engine) {
  return engine.model.header->num_stacks - 1;
}

static inline const BlobStack& last_config(const Engine& engine) {
  return engine.model.header->stacks[last_stack(engine)];
}

/// A table of word embeddings without layers: embert_embed is all that it can do.
static inline bool is_static(const Engine& engine) {
  return has(last_config(engine).flags, kStackStatic);
}

static inline bool is_decoder(const Engine& engine) {
  return (last_config(engine).flags & kStackCausal) != 0;
}

/// The arena's buffers as a stack's plan places them.
struct Buffers {
  Engine& engine;
  const StackPlan& plan;

  template <typename T>
  T* at(uint64_t offset) const {
    return engine.at<T>(offset);
  }
  /// A buffer in the scratch of a task.
  template <typename T>
  T* scratch(size_t task, uint64_t offset) const {
    return engine.at<T>(plan.scratch + task * plan.scratch_bytes + offset);
  }
};

static inline Buffers last_buffers(Engine& engine) {
  return {engine, engine.plan.stacks[last_stack(engine)]};
}

}  // namespace embert

/// The public name of the engine.
struct embert_engine : embert::Engine {};
