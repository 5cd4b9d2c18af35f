// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/thread_steps.hpp"

#include <time.h>

namespace embert {

namespace {

/// About the time to wake a thread: who spins so long in vain waits at most twice as long.
constexpr int64_t kSpinNanoseconds = 50'000;

int64_t nanoseconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

void ThreadSteps::end() {
  over_.store(true, std::memory_order_release);
  notify();
}

void ThreadSteps::run(Task task, void* argument, size_t tasks) {
  // A thread reads these after it has taken a share, so after the number of the step has changed.
  task_ = task;
  argument_ = argument;
  tasks_ = tasks;
  left_.store(threads_, std::memory_order_relaxed);
  const uint32_t step = step_.load(std::memory_order_relaxed) + 1;
  step_.store(step, std::memory_order_release);
  notify();
  take_tasks(step, 0);
  wait([&] { return left_.load(std::memory_order_acquire) == 0; });
}

void ThreadSteps::stand_by(size_t thread) {
  while (!over_.load(std::memory_order_acquire)) {
    const uint32_t step = step_.load(std::memory_order_acquire);
    take_tasks(step, thread);
    wait([&] {
      return step_.load(std::memory_order_acquire) != step || over_.load(std::memory_order_acquire);
    });
  }
}

/// Share i of a step are its tasks i, i + threads, and so on. A thread begins with its own share:
/// its core may hold what it wrote there in the last step.
void ThreadSteps::take_tasks(uint32_t step, size_t thread) {
  for (size_t k = 0; k < threads_; ++k) {
    const size_t share = (thread + k) % threads_;
    // All shares of a step are taken before the next begins, so who comes late with an old number
    // takes no share of the next. step_ and left_ order what tasks read and write.
    uint32_t before = step - 1;
    if (!taken_[share].compare_exchange_strong(before, step, std::memory_order_relaxed)) continue;
    for (size_t i = share; i < tasks_; i += threads_) task_(argument_, i);
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) notify();
  }
}

void ThreadSteps::notify() {
  // With the mutex: who has looked and does not sleep yet would not hear it.
  pthread_mutex_lock(&mutex_);
  pthread_cond_broadcast(&changed_);
  pthread_mutex_unlock(&mutex_);
}

template <typename Done>
void ThreadSteps::wait(Done done) {
  const int64_t sleep = nanoseconds() + kSpinNanoseconds;
  while (nanoseconds() < sleep) {
    if (done()) return;
  }
  pthread_mutex_lock(&mutex_);
  while (!done()) pthread_cond_wait(&changed_, &mutex_);
  pthread_mutex_unlock(&mutex_);
}

}  // namespace embert
