// SPDX-License-Identifier: Apache-2.0
// The steps of a work on more threads than most machines that run the tests have processors.
#include "runtime/host/thread_steps.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace embert::test {
namespace {

struct Counts {
  std::vector<std::size_t> of;  ///< how often each task ran
};

void count(void* counts, std::size_t i) { ++static_cast<Counts*>(counts)->of[i]; }

/// Runs `number` steps of `tasks` tasks while `standing` other threads stand by.
void run_steps(ThreadSteps& steps, std::size_t standing, std::size_t tasks, std::size_t number) {
  Counts counts = {std::vector<std::size_t>(tasks)};
  steps.begin();
  std::vector<std::thread> others;
  for (std::size_t i = 1; i <= standing; ++i) {
    others.emplace_back([&steps, i] { steps.stand_by(i); });
  }
  for (std::size_t i = 0; i < number; ++i) steps.run(count, &counts, tasks);
  steps.end();
  for (std::thread& other : others) other.join();
  for (std::size_t i = 0; i < tasks; ++i) {
    EXPECT_EQ(counts.of[i], number)
        << "task " << i << " of " << tasks << ", threads that stand by: " << standing;
  }
}

TEST(ThreadSteps, EachTaskRunsOnce) {
  constexpr std::size_t kThreads = 6;
  ThreadSteps steps(kThreads);
  for (const std::size_t standing : {0u, 1u, 3u, 5u}) {
    for (const std::size_t tasks : {0u, 1u, 5u, 6u, 20u}) {
      run_steps(steps, standing, tasks, 1000);
      EXPECT_TRUE(steps.is_over());
    }
  }
}

TEST(ThreadSteps, ManyThreads) {
  ThreadSteps steps(ThreadSteps::kMaxThreads);
  run_steps(steps, ThreadSteps::kMaxThreads - 1, ThreadSteps::kMaxThreads, 1000);
}

// Of three threads one is missing: the other that stands by takes its share as well.
TEST(ThreadSteps, AThreadTakesTheSharesOfOthers) {
  for (const std::size_t thread : {1u, 2u}) {
    ThreadSteps steps(3);
    steps.begin();
    std::thread other([&] { steps.stand_by(thread); });
    std::atomic<int> others_done{0};
    steps.run(
        [](void* argument, std::size_t task) {
          auto& done = *static_cast<std::atomic<int>*>(argument);
          if (task != 0) ++done;
          while (done < 2 && task == 0) std::this_thread::yield();
        },
        &others_done, 3);
    steps.end();
    other.join();
    EXPECT_EQ(others_done, 2);
  }
}

TEST(ThreadSteps, EachThreadTakesItsOwnShareFirst) {
  ThreadSteps steps(2);
  steps.begin();
  std::thread other([&] { steps.stand_by(1); });
  struct Threads {
    std::atomic<int> arrived{0};
    std::thread::id of[2];
  } threads;
  for (int i = 0; i < 100; ++i) {
    threads.arrived = 0;
    steps.run(
        [](void* argument, std::size_t task) {
          auto& seen = *static_cast<Threads*>(argument);
          seen.of[task] = std::this_thread::get_id();
          ++seen.arrived;
          while (seen.arrived < 2) std::this_thread::yield();
        },
        &threads, 2);
    ASSERT_EQ(threads.of[0], std::this_thread::get_id());
    ASSERT_EQ(threads.of[1], other.get_id());
  }
  steps.end();
  other.join();
}

}  // namespace
}  // namespace embert::test
