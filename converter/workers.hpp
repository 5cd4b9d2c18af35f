// SPDX-License-Identifier: Apache-2.0
// Runs independent tasks on the threads of a pool. No task writes data that another task uses, so
// results never depend on the number of threads.
#pragma once

#include <pthreadpool.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

namespace embert::convert {

/// Flags of every run on a pool: idle threads sleep instead of spinning. On a busy machine this
/// halves the time of a forward pass of the float model.
inline constexpr std::uint32_t kPoolFlags = PTHREADPOOL_FLAG_YIELD_WORKERS;

struct PoolDeleter {
  void operator()(pthreadpool_t pool) const { pthreadpool_destroy(pool); }
};
/// A null pool runs everything in the calling thread.
using ThreadPool = std::unique_ptr<std::remove_pointer_t<pthreadpool_t>, PoolDeleter>;
/// `threads` >= 1; a null pool for 1. Throws ConvertError where threads cannot be started.
ThreadPool make_thread_pool(int threads);

class Workers {
 public:
  /// `threads` >= 1; 1 runs everything in the calling thread. Throws ConvertError.
  explicit Workers(int threads) : pool_(make_thread_pool(threads)) {}

  /// Runs task(i) for each i < count, in any order, and returns when all are done. Where tasks
  /// throw, rethrows the exception of the lowest i. Tasks must not call run().
  void run(std::size_t count, const std::function<void(std::size_t)>& task);

 private:
  ThreadPool pool_;
};

}  // namespace embert::convert
