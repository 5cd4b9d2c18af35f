/* SPDX-License-Identifier: Apache-2.0
 * A thread pool for hosted systems, over pthreadpool; in builds without that library it has one
 * thread. Not on bare metal.
 */
#ifndef EMBERT_EMBERT_HOST_H_
#define EMBERT_EMBERT_HOST_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct embert_thread_pool embert_thread_pool;

/** A pool of min(threads, processors that this process may run on, 64) threads; 0 asks for as many
 * as there may be. Null when it can not be made. */
embert_thread_pool* embert_thread_pool_create(uint32_t threads);
void embert_thread_pool_destroy(embert_thread_pool* pool);
/** How many threads it has: the value for embert_options.threads. */
uint32_t embert_thread_pool_threads(const embert_thread_pool* pool);
/** The value for embert_options.parallel_for, with the pool as parallel_context. Threads without
 * work sleep. */
void embert_thread_pool_parallel_for(void* pool, void (*task)(void* task_argument, size_t index),
                                     void* task_argument, size_t tasks);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EMBERT_EMBERT_HOST_H_ */
