// SPDX-License-Identifier: Apache-2.0
// embert_host.h without pthreadpool: every task runs in the caller's thread.
#include "embert/embert_host.h"

namespace {

// A pool has no state, so all pools are this constant.
const uint8_t caller = 0;

}  // namespace

embert_thread_pool* embert_thread_pool_create(uint32_t) {
  return reinterpret_cast<embert_thread_pool*>(const_cast<uint8_t*>(&caller));
}

void embert_thread_pool_destroy(embert_thread_pool*) {}

uint32_t embert_thread_pool_threads(const embert_thread_pool*) { return 1; }

void embert_thread_pool_run(embert_thread_pool*, void (*work)(void* argument), void* argument) {
  work(argument);
}

void embert_thread_pool_parallel_for(void*, void (*task)(void* task_argument, size_t index),
                                     void* task_argument, size_t tasks) {
  for (size_t i = 0; i < tasks; ++i) task(task_argument, i);
}
