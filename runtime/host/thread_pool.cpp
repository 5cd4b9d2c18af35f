// SPDX-License-Identifier: Apache-2.0
// The thread pool of embert_host.h, over pthreadpool. The pool handle is the pthreadpool itself.
#include <pthreadpool.h>
#include <sched.h>
#include <unistd.h>

#include "embert/embert_host.h"

namespace {

constexpr uint32_t kMaxThreads = 64;  // as embert_options.threads

pthreadpool_t as_pthreadpool(embert_thread_pool* pool) {
  return reinterpret_cast<pthreadpool_t>(pool);
}

/// Processors that this process may run on; taskset and containers may limit them.
uint32_t allowed_processors() {
#if defined(__linux__)
  // The kernel refuses a set smaller than its own, which is unknown: double until it fits.
  for (size_t processors = 1024; processors <= (size_t{1} << 20); processors *= 2) {
    cpu_set_t* set = CPU_ALLOC(processors);
    if (set == nullptr) break;
    const size_t set_bytes = CPU_ALLOC_SIZE(processors);
    const bool known = sched_getaffinity(0, set_bytes, set) == 0;
    const int count = known ? CPU_COUNT_S(set_bytes, set) : 0;
    CPU_FREE(set);
    if (known) return count > 0 ? static_cast<uint32_t>(count) : 1;
  }
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<uint32_t>(online) : 1;
}

}  // namespace

embert_thread_pool* embert_thread_pool_create(uint32_t threads) {
  uint32_t limit = allowed_processors();
  if (limit > kMaxThreads) limit = kMaxThreads;
  if (threads == 0 || threads > limit) threads = limit;
  return reinterpret_cast<embert_thread_pool*>(pthreadpool_create(threads));
}

void embert_thread_pool_destroy(embert_thread_pool* pool) {
  if (pool != nullptr) pthreadpool_destroy(as_pthreadpool(pool));
}

uint32_t embert_thread_pool_threads(const embert_thread_pool* pool) {
  if (pool == nullptr) return 1;
  // pthreadpool only reads here, but its signature is not const.
  auto* mutable_pool = const_cast<embert_thread_pool*>(pool);
  return static_cast<uint32_t>(pthreadpool_get_threads_count(as_pthreadpool(mutable_pool)));
}

void embert_thread_pool_parallel_for(void* pool, void (*task)(void* task_argument, size_t index),
                                     void* task_argument, size_t tasks) {
  // Threads that wait for the next step sleep. One that spins may hold the processor that the
  // thread it waits for needs: where another process keeps one of two processors busy, MiniLM took
  // up to 148 ms instead of 2.7 for 16 tokens. Where nothing else runs, 16 to 128 tokens take 1 to
  // 2 % longer (Zen 4, two threads).
  pthreadpool_parallelize_1d(as_pthreadpool(static_cast<embert_thread_pool*>(pool)), task,
                             task_argument, tasks, PTHREADPOOL_FLAG_YIELD_WORKERS);
}
