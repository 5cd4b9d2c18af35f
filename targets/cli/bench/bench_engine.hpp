// SPDX-License-Identifier: Apache-2.0
// An engine for one text whose passes are split over the threads of a pool: the shortest time of a
// single text, where the machine has nothing else to do.
#pragma once

#include <memory>

#include "embert/embert_host.h"
#include "embert/embert_run.h"
#include "targets/hosted/model/model_file.hpp"

namespace embert::cli {

class BenchEngine {
 public:
  /// Says so if the process may use fewer threads. max_tokens: the longest text.
  BenchEngine(const hosted::ModelFile& file, uint32_t threads, uint32_t max_tokens);

  embert_engine* engine() const { return engine_; }
  uint32_t threads() const { return threads_; }

  /// Calls pass() in a work of the thread pool, if there is one.
  template <typename Pass>
  void run(Pass pass) const {
    embert_thread_pool_run(
        pool_.get(), [](void* argument) { (*static_cast<Pass*>(argument))(); }, &pass);
  }

 private:
  struct PoolDeleter {
    void operator()(embert_thread_pool* pool) const { embert_thread_pool_destroy(pool); }
  };
  struct ArenaDeleter {
    void operator()(void* arena) const;
  };
  std::unique_ptr<embert_thread_pool, PoolDeleter> pool_;
  std::unique_ptr<void, ArenaDeleter> arena_;
  uint32_t threads_ = 1;
  embert_engine* engine_ = nullptr;
};

}  // namespace embert::cli
