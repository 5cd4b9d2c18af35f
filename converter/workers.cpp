// SPDX-License-Identifier: Apache-2.0
#include "converter/workers.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <string>

#include "converter/convert_error.hpp"

namespace embert::convert {

ThreadPool make_thread_pool(int threads) {
  if (threads <= 1) return nullptr;
  ThreadPool pool(pthreadpool_create(static_cast<std::size_t>(threads)));
  if (pool == nullptr) {
    throw ConvertError("can not start " + std::to_string(threads) + " threads; try fewer");
  }
  return pool;
}

void Workers::run(std::size_t count, const std::function<void(std::size_t)>& task) {
  struct Shared {
    const std::function<void(std::size_t)>& task;
    std::atomic<std::size_t> next;
    std::mutex mutex;
    std::exception_ptr error;
    std::size_t error_at;
  } shared{task, 0, {}, nullptr, count};
  // Tasks start in order: a caller who puts the longest tasks first keeps all threads busy to the
  // end.
  pthreadpool_parallelize_1d(
      pool_.get(),
      [](void* context, std::size_t) {
        Shared& s = *static_cast<Shared*>(context);
        const std::size_t i = s.next.fetch_add(1);
        try {
          s.task(i);
        } catch (...) {
          const std::lock_guard<std::mutex> lock(s.mutex);
          if (i < s.error_at) {
            s.error = std::current_exception();
            s.error_at = i;
          }
        }
      },
      &shared, count, kPoolFlags);
  if (shared.error) std::rethrow_exception(shared.error);
}

}  // namespace embert::convert
