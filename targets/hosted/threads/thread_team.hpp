// SPDX-License-Identifier: Apache-2.0
// The threads of a model. A call's work is cut into items; the caller's thread and idle helpers
// take them in order. Threads without work block.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "targets/hosted/threads/progress.hpp"
#include "targets/hosted/threads/work_slot.hpp"

namespace embert::hosted {

/// The processors that this process may run on: taskset and containers may limit them.
uint32_t allowed_processors();

class ThreadTeam {
 public:
  /// One slot for each of `threads` threads. The callers' threads work too, so there is one helper
  /// less. max_tokens: the longest text.
  ThreadTeam(const ModelFile& file, uint32_t threads, uint32_t max_tokens);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  using Work = std::function<void(WorkSlot& slot, size_t item)>;

  /// Calls work(slot, i) for i = 0 .. items-1 and returns when all are done. Items start in order;
  /// several run at once. Any number of threads may call run(): they share the slots, item by item.
  /// If items throw, no further one starts, and the exception of the lowest is thrown on: all items
  /// below it are done. Throws Cancelled if the progress function asks for it.
  void run(size_t items, const Work& work, Progress& progress);

  uint32_t threads() const { return static_cast<uint32_t>(slots_.size()); }

 private:
  struct Job;
  using Lock = std::unique_lock<std::mutex>;

  void help();
  void stop();
  /// Runs items of the job with an idle slot until there are none, another caller has waited for a
  /// slot or, in the caller's thread, a report is due.
  void work_on(Job& job, Lock& lock, const Progress* progress);
  bool can_take_slot(const Job& job) const;
  Job* first_waiting() const;
  Job* next_with_items();
  void wake_next();

  std::vector<std::unique_ptr<WorkSlot>> slots_;
  std::mutex mutex_;  ///< of all members below
  std::vector<WorkSlot*> idle_;
  std::list<Job*> jobs_;
  uint64_t last_ticket_ = 0;
  std::condition_variable helpers_wake_;
  bool stopping_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace embert::hosted
