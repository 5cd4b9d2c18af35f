// SPDX-License-Identifier: Apache-2.0
// The steps of a work: one thread starts them, and the others stand by. A thread that waits spins
// for a moment before it sleeps. Those of pthreadpool sleep at once or spin a million times.
// To wake one took as long as a step: MiniLM took 1.19 ms for 16 tokens with two threads that sleep
// at once, 0.56 with these and 0.83 with one thread (Xeon, AVX512-VNNI, virtual machine). One that
// spins may hold the processor that the other needs: where another process kept one of two
// processors busy, MiniLM took up to 148 ms instead of 2.7 (Zen 4).
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include <atomic>

namespace embert {

class ThreadSteps {
 public:
  using Task = void (*)(void* argument, size_t index);
  static constexpr size_t kMaxThreads = 64;  // as embert_options.threads

  explicit ThreadSteps(size_t threads) : threads_(threads) {}

  /// Before the other threads stand by.
  void begin() { over_.store(false, std::memory_order_release); }
  /// Lets stand_by() return.
  void end();
  bool is_over() const { return over_.load(std::memory_order_acquire); }

  /// Calls task(argument, i) for i in 0 .. tasks-1 and returns when all are done. For the thread
  /// that called begin(). It takes what the others do not, so none has to stand by.
  void run(Task task, void* argument, size_t tasks);
  /// Takes tasks of all steps until end(). thread: 1 .. threads-1, another one for each thread.
  void stand_by(size_t thread);

 private:
  void take_tasks(uint32_t step, size_t thread);
  void notify();
  template <typename Done>
  void wait(Done done);

  const size_t threads_;
  Task task_ = nullptr;
  void* argument_ = nullptr;
  size_t tasks_ = 0;
  std::atomic<bool> over_{true};
  std::atomic<uint32_t> step_{0};                  ///< its number
  std::atomic<size_t> left_{0};                    ///< shares that are not done
  std::atomic<uint32_t> taken_[kMaxThreads] = {};  ///< the last step whose share i was taken
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
};

}  // namespace embert
