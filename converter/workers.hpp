// SPDX-License-Identifier: Apache-2.0
// Independent pieces of work over the threads of a pool. A piece writes what no other touches, so
// results never depend on the number of threads.
#pragma once

#include <pthreadpool.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

namespace embert::convert {

/// Of every run on a pool: idle threads sleep instead of spinning. On a busy machine that halves
/// the time of a pass through the float model.
inline constexpr std::uint32_t kPoolFlags = PTHREADPOOL_FLAG_YIELD_WORKERS;

struct PoolDeleter {
  void operator()(pthreadpool_t pool) const { pthreadpool_destroy(pool); }
};
/// Null: everything runs in the calling thread.
using ThreadPool = std::unique_ptr<std::remove_pointer_t<pthreadpool_t>, PoolDeleter>;
/// `threads` >= 1. Throws ConvertError.
ThreadPool make_thread_pool(int threads);

class Workers {
 public:
  /// `threads` >= 1; 1 runs everything in the calling thread. Throws ConvertError.
  explicit Workers(int threads) : pool_(make_thread_pool(threads)) {}

  /// task(i) for i < count, in any order; returns when all are done. Rethrows the exception of the
  /// lowest i that threw. Tasks must not call run() themselves.
  void run(std::size_t count, const std::function<void(std::size_t)>& task);

 private:
  ThreadPool pool_;
};

}  // namespace embert::convert
