// SPDX-License-Identifier: Apache-2.0
// The thread pool of embert_host.h, over pthreadpool.
#include <pthreadpool.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "embert/embert_host.h"
#include "runtime/host/thread_steps.hpp"

struct embert_thread_pool {
  pthreadpool_t threads;
  embert::ThreadSteps steps;
  pthread_mutex_t one_work = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<pthread_t> caller = {};  ///< of the work, while steps.is_over() is false
};

namespace {

bool is_in_work(const embert_thread_pool& pool) {
  return !pool.steps.is_over() &&
         pthread_equal(pool.caller.load(std::memory_order_relaxed), pthread_self()) != 0;
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

/// pthreadpool runs in the caller's thread what it gets for a null pool.
void run_on_threads(embert_thread_pool* pool, void (*task)(void*, size_t), void* argument,
                    size_t tasks) {
  pthreadpool_parallelize_1d(pool != nullptr ? pool->threads : nullptr, task, argument, tasks,
                             PTHREADPOOL_FLAG_YIELD_WORKERS);
}

struct Work {
  embert::ThreadSteps& steps;
  void (*run)(void* argument);
  void* argument;
};

/// pthreadpool gives task i to thread i; the caller's thread is number 0.
void run_or_stand_by(void* work_pointer, size_t thread) {
  const auto& work = *static_cast<const Work*>(work_pointer);
  if (thread != 0) return work.steps.stand_by(thread);
  work.run(work.argument);
  work.steps.end();
}

}  // namespace

embert_thread_pool* embert_thread_pool_create(uint32_t threads) {
  uint32_t limit = allowed_processors();
  if (limit > embert::ThreadSteps::kMaxThreads) limit = embert::ThreadSteps::kMaxThreads;
  if (threads == 0 || threads > limit) threads = limit;
  void* memory = malloc(sizeof(embert_thread_pool));
  const pthreadpool_t made = memory != nullptr ? pthreadpool_create(threads) : nullptr;
  if (made != nullptr) return new (memory) embert_thread_pool{made, embert::ThreadSteps(threads)};
  free(memory);
  return nullptr;
}

void embert_thread_pool_destroy(embert_thread_pool* pool) {
  if (pool == nullptr) return;
  pthreadpool_destroy(pool->threads);
  free(pool);
}

uint32_t embert_thread_pool_threads(const embert_thread_pool* pool) {
  if (pool == nullptr) return 1;
  return static_cast<uint32_t>(pthreadpool_get_threads_count(pool->threads));
}

void embert_thread_pool_run(embert_thread_pool* pool, void (*work)(void* argument),
                            void* argument) {
  if (pool == nullptr || is_in_work(*pool)) return work(argument);
  Work on_threads = {pool->steps, work, argument};
  pthread_mutex_lock(&pool->one_work);
  pool->caller.store(pthread_self(), std::memory_order_relaxed);
  pool->steps.begin();
  run_on_threads(pool, run_or_stand_by, &on_threads, embert_thread_pool_threads(pool));
  pthread_mutex_unlock(&pool->one_work);
}

void embert_thread_pool_parallel_for(void* pool_pointer,
                                     void (*task)(void* task_argument, size_t index),
                                     void* task_argument, size_t tasks) {
  auto* pool = static_cast<embert_thread_pool*>(pool_pointer);
  if (pool != nullptr && is_in_work(*pool)) {
    pool->steps.run(task, task_argument, tasks);
  } else {
    run_on_threads(pool, task, task_argument, tasks);
  }
}
