// SPDX-License-Identifier: Apache-2.0
#include "tests/support/system/run_threads.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace embert::test {
namespace {

/// A thread that stays. QEMU 7.2 in user mode does not free all memory of a thread that has ended:
/// with a new thread for each task runtime_test grew to 20 GB under qemu-aarch64, now to 35 MB.
class Worker {
 public:
  Worker() : thread_([this] { work(); }) {}

  void start(void (*task)(void*, std::size_t), void* argument, std::size_t index) {
    const std::lock_guard<std::mutex> lock(mutex_);
    task_ = task;
    argument_ = argument;
    index_ = index;
    is_busy_ = true;
    wake_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    wake_.wait(lock, [this] { return !is_busy_; });
  }

  ~Worker() {
    start(nullptr, nullptr, 0);
    thread_.join();
  }

 private:
  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return is_busy_; });
      if (task_ == nullptr) return;
      lock.unlock();
      task_(argument_, index_);
      lock.lock();
      is_busy_ = false;
      wake_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  void (*task_)(void*, std::size_t) = nullptr;
  void* argument_ = nullptr;
  std::size_t index_ = 0;
  bool is_busy_ = false;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace

// Workers share nothing with each other, so that ThreadSanitizer sees no order between two tasks.
void run_threads(void*, void (*task)(void*, std::size_t), void* argument, std::size_t tasks) {
  static std::mutex mutex;
  static std::deque<Worker> workers;
  const std::lock_guard<std::mutex> lock(mutex);
  while (workers.size() < tasks) workers.emplace_back();
  for (std::size_t i = 0; i < tasks; ++i) workers[i].start(task, argument, i);
  for (std::size_t i = 0; i < tasks; ++i) workers[i].wait();
}

}  // namespace embert::test
