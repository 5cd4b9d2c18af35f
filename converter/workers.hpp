// SPDX-License-Identifier: Apache-2.0
// Independent pieces of work over the threads of a pool. A piece writes what no other touches, so
// results never depend on the number of threads.
#pragma once

#include <pthreadpool.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>

namespace embert::convert {

class Workers {
 public:
  /// `threads` >= 1; 1 runs everything in the calling thread. Throws ConvertError.
  explicit Workers(int threads);

  /// task(i) for i < count, in any order; returns when all are done. Rethrows the exception of the
  /// lowest i that threw. Tasks must not call run() themselves.
  void run(std::size_t count, const std::function<void(std::size_t)>& task);

 private:
  struct Deleter {
    void operator()(pthreadpool_t pool) const { pthreadpool_destroy(pool); }
  };
  std::unique_ptr<std::remove_pointer_t<pthreadpool_t>, Deleter> pool_;
};

}  // namespace embert::convert
