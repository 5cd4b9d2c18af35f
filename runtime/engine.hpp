// SPDX-License-Identifier: Apache-2.0
// The engine: what one inference needs beside the model, at the start of the arena.
#pragma once

#include "kernels/dispatch.hpp"
#include "runtime/model.hpp"
#include "runtime/plan.hpp"

namespace embert {

struct Engine {
  Model model;
  Stack stack;
  Kernels kernels;
  Plan plan;
  embert_options options;

  /// A buffer of the arena, which starts with this object.
  template <typename T>
  T* at(uint64_t offset) {
    return reinterpret_cast<T*>(reinterpret_cast<uint8_t*>(this) + offset);
  }
  /// A buffer in the scratch of a task.
  template <typename T>
  T* scratch(size_t task, uint64_t offset) {
    return at<T>(plan.scratch + task * plan.scratch_bytes + offset);
  }
};
static_assert(sizeof(Engine) <= kEngineBytes, "the engine has its fixed place in the arena");

/// Runs task(argument, i) for i in 0 .. threads-1.
template <typename T>
void parallel(const Engine& engine, T& argument, void (*task)(void*, size_t)) {
  if (engine.options.threads == 1) {
    task(&argument, 0);
  } else {
    engine.options.parallel_for(engine.options.parallel_context, task, &argument,
                                engine.options.threads);
  }
}

}  // namespace embert

/// The public name of the engine.
struct embert_engine : embert::Engine {};
