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
/** Calls work(argument) in the caller's thread. Until it returns, the pool is the caller's: other
 * threads that use it wait for it. In work, threads that wait for a call or the end of
 * embert_thread_pool_parallel_for spin for up to 50 microseconds before they sleep; elsewhere those
 * without work sleep at once. A pass has three such calls a layer and more, so let work run passes:
 * one, or several in a row. In a work of the same pool it only calls work. */
void embert_thread_pool_run(embert_thread_pool* pool, void (*work)(void* argument), void* argument);
/** The value for embert_options.parallel_for, with the pool as parallel_context. Tasks
 * must not use the pool. */
void embert_thread_pool_parallel_for(void* pool, void (*task)(void* task_argument, size_t index),
                                     void* task_argument, size_t tasks);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EMBERT_EMBERT_HOST_H_ */
