// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/threads/thread_team.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "targets/hosted/hosted_error.hpp"

namespace embert::hosted {

/// How long a caller keeps a slot while others wait: long beside a switch of threads, and short for
/// those who wait.
static constexpr std::chrono::milliseconds kTurn{2};

uint32_t allowed_processors() {
#if defined(__linux__)
  // The kernel refuses a set smaller than its own, which is unknown: double until it fits.
  for (size_t processors = 1024; processors <= (size_t{1} << 20); processors *= 2) {
    std::vector<cpu_set_t> set(processors / (8 * sizeof(cpu_set_t)));
    const size_t bytes = set.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, set.data()) != 0) continue;
    return static_cast<uint32_t>(std::max(1, CPU_COUNT_S(bytes, set.data())));
  }
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<uint32_t>(online) : 1;
}

/// The work of one call of run(). All members but the first two belong to the team's mutex.
struct ThreadTeam::Job {
  size_t items;
  const Work& work;
  size_t next = 0, running = 0;
  uint64_t ticket = 0;  ///< the caller's place in the queue for a slot; 0: it does not wait
  bool stopped = false;
  size_t failed_item = SIZE_MAX;
  std::exception_ptr failure;  ///< of the lowest item that threw
  std::condition_variable wake;

  bool has_items() const { return !stopped && next < items; }
  bool is_done() const { return !has_items() && running == 0; }
};

ThreadTeam::ThreadTeam(const ModelFile& file, uint32_t threads, uint32_t max_tokens) {
  idle_.reserve(threads);
  for (uint32_t i = 0; i < threads; ++i) {
    slots_.push_back(std::make_unique<WorkSlot>(file, max_tokens));
    idle_.push_back(slots_.back().get());
  }
  try {
    for (uint32_t i = 1; i < threads; ++i) helpers_.emplace_back([this] { help(); });
  } catch (const std::system_error& error) {
    const std::string number = std::to_string(helpers_.size() + 2);
    stop();
    throw InternalError("cannot start thread " + number + " of " + std::to_string(threads) + ": " +
                        error.what());
  } catch (...) {
    stop();
    throw;
  }
}

ThreadTeam::~ThreadTeam() { stop(); }

void ThreadTeam::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  helpers_wake_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void ThreadTeam::run(size_t items, const Work& work, Progress& progress) {
  Job job = {.items = items, .work = work, .failure = {}, .wake = {}};
  bool cancelled = false;
  Lock lock(mutex_);
  const auto entry = jobs_.insert(jobs_.end(), &job);
  for (size_t i = 1; i < items && i <= helpers_.size(); ++i) helpers_wake_.notify_one();
  while (!job.is_done()) {
    if (job.has_items() && can_take_slot(job)) {
      job.ticket = 0;
      work_on(job, lock, &progress);
    } else {
      if (!job.has_items()) {
        job.ticket = 0;
        wake_next();
      } else if (job.ticket == 0) {
        job.ticket = ++last_ticket_;
      }
      if (progress.wanted()) {
        job.wake.wait_for(lock, Progress::kInterval);
      } else {
        job.wake.wait(lock);
      }
    }
    if (cancelled || !progress.is_due()) continue;
    lock.unlock();  // the function may take long, or call the library
    cancelled = progress.report();
    lock.lock();
    if (cancelled) job.stopped = true;
  }
  jobs_.erase(entry);
  wake_next();
  lock.unlock();
  if (job.failure) std::rethrow_exception(job.failure);
  if (cancelled) throw Cancelled();
}

void ThreadTeam::help() {
  Lock lock(mutex_);
  while (!stopping_) {
    Job* job = idle_.empty() || first_waiting() != nullptr ? nullptr : next_with_items();
    if (job != nullptr) {
      work_on(*job, lock, nullptr);
    } else {
      helpers_wake_.wait(lock);
    }
  }
}

void ThreadTeam::work_on(Job& job, Lock& lock, const Progress* progress) {
  WorkSlot& slot = *idle_.back();
  idle_.pop_back();
  const auto give_way = std::chrono::steady_clock::now() + kTurn;
  bool goes_on = true;
  while (goes_on) {
    const size_t item = job.next++;
    ++job.running;
    wake_next();
    lock.unlock();
    std::exception_ptr failure;
    try {
      job.work(slot, item);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --job.running;
    if (failure) job.stopped = true;
    if (failure && item < job.failed_item) {
      job.failed_item = item;
      job.failure = failure;
    }
    const bool is_wanted =
        first_waiting() != nullptr && std::chrono::steady_clock::now() >= give_way;
    goes_on = job.has_items() && !is_wanted && !(progress != nullptr && progress->is_due());
  }
  idle_.push_back(&slot);
  if (job.is_done()) job.wake.notify_one();  // the last touch of the job: its caller may return
  wake_next();
}

bool ThreadTeam::can_take_slot(const Job& job) const {
  const Job* first = first_waiting();
  return !idle_.empty() && (first == nullptr || first == &job);
}

ThreadTeam::Job* ThreadTeam::first_waiting() const {
  Job* first = nullptr;
  for (Job* job : jobs_) {
    if (job->ticket != 0 && (first == nullptr || job->ticket < first->ticket)) first = job;
  }
  return first;
}

ThreadTeam::Job* ThreadTeam::next_with_items() {
  for (auto at = jobs_.begin(); at != jobs_.end(); ++at) {
    if (!(*at)->has_items()) continue;
    jobs_.splice(jobs_.end(), jobs_, at);  // helpers serve the callers in turn
    return jobs_.back();
  }
  return nullptr;
}

/// Wakes who may use an idle slot: the caller that has waited longest, or else a helper.
void ThreadTeam::wake_next() {
  if (idle_.empty()) return;
  if (Job* first = first_waiting(); first != nullptr) {
    first->wake.notify_one();
    return;
  }
  const bool has_items =
      std::any_of(jobs_.begin(), jobs_.end(), [](const Job* job) { return job->has_items(); });
  if (has_items) helpers_wake_.notify_one();
}

}  // namespace embert::hosted
