// SPDX-License-Identifier: Apache-2.0
// The thread pool: every task of a step runs once, in a work of the pool and outside of one.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "embert/embert_host.h"

namespace embert::test {
namespace {

struct PoolDeleter {
  void operator()(embert_thread_pool* pool) const { embert_thread_pool_destroy(pool); }
};
using Pool = std::unique_ptr<embert_thread_pool, PoolDeleter>;

template <typename Work>
void run(const Pool& pool, Work work) {
  embert_thread_pool_run(
      pool.get(), [](void* argument) { (*static_cast<Work*>(argument))(); }, &work);
}

template <typename Task>
void parallel_for(const Pool& pool, std::size_t tasks, Task task) {
  embert_thread_pool_parallel_for(
      pool.get(), [](void* argument, std::size_t i) { (*static_cast<Task*>(argument))(i); }, &task,
      tasks);
}

/// Steps of 0 .. most_tasks tasks. Each task adds to memory that no other task of its step touches.
void run_steps(const Pool& pool, std::size_t most_tasks, int rounds) {
  std::vector<std::uint32_t> done(most_tasks);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t tasks = 0; tasks <= most_tasks; ++tasks) {
      const std::vector<std::uint32_t> before = done;
      parallel_for(pool, tasks, [&](std::size_t i) { ++done[i]; });
      for (std::size_t i = 0; i < most_tasks; ++i) {
        ASSERT_EQ(done[i], before[i] + (i < tasks ? 1 : 0)) << "task " << i << " of " << tasks;
      }
    }
  }
}

TEST(ThreadPool, EachTaskRunsOnce) {
  for (const std::uint32_t threads : {0u, 1u, 2u, 64u}) {
    const Pool pool(embert_thread_pool_create(threads));
    ASSERT_NE(pool, nullptr);
    run_steps(pool, 70, 3);
    for (int i = 0; i < 30; ++i) run(pool, [&] { run_steps(pool, 70, 3); });
    run_steps(pool, 70, 3);
  }
}

TEST(ThreadPool, WithoutAPoolTheCallerRunsAll) {
  const Pool none;
  EXPECT_EQ(embert_thread_pool_threads(none.get()), 1u);
  run_steps(none, 5, 1);
  run(none, [&] { run_steps(none, 5, 1); });
}

TEST(ThreadPool, RunsTheWorkInTheCallersThread) {
  const Pool pool(embert_thread_pool_create(2));
  ASSERT_NE(pool, nullptr);
  for (int i = 0; i < 100; ++i) {
    std::thread::id outer, inner;
    run(pool, [&] {
      outer = std::this_thread::get_id();
      run(pool, [&] { inner = std::this_thread::get_id(); });
      run_steps(pool, 3, 1);
    });
    ASSERT_EQ(outer, std::this_thread::get_id());
    ASSERT_EQ(inner, std::this_thread::get_id());
  }
}

/// Runs a step of two tasks that wait for each other, `pause` behind the last one. False if one
/// waited for a second.
bool meets(const Pool& pool, std::chrono::milliseconds pause) {
  std::this_thread::sleep_for(pause);
  std::atomic<int> arrived{0};
  std::atomic<bool> met{true};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  parallel_for(pool, 2, [&](std::size_t) {
    ++arrived;
    while (arrived < 2 && met) {
      std::this_thread::yield();
      if (std::chrono::steady_clock::now() > end) met = false;
    }
  });
  return met;
}

TEST(ThreadPool, ThreadsRunTasksAtOnce) {
  const Pool pool(embert_thread_pool_create(2));
  ASSERT_NE(pool, nullptr);
  if (embert_thread_pool_threads(pool.get()) < 2) GTEST_SKIP() << "one thread";
  const auto meet_often = [&] {
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(meets(pool, std::chrono::milliseconds(0)));
  };
  meet_often();
  run(pool, meet_often);
}

TEST(ThreadPool, CallersTakeTurns) {
  const Pool pool(embert_thread_pool_create(2));
  ASSERT_NE(pool, nullptr);
  const auto yielding_steps = [&pool] {
    for (int step = 0; step < 20; ++step) {
      std::vector<int> done(3);
      parallel_for(pool, 3, [&](std::size_t i) {
        std::this_thread::yield();
        ++done[i];
      });
      ASSERT_EQ(done, std::vector<int>(3, 1));
    }
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&pool, &yielding_steps, i] {
      for (int k = 0; k < 20; ++k) {
        if (i % 2 == 0) yielding_steps();
        run(pool, yielding_steps);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

// A thread spins for 50 microseconds before it sleeps.
TEST(ThreadPool, AStepWakesThreadsThatSleep) {
  const Pool pool(embert_thread_pool_create(2));
  ASSERT_NE(pool, nullptr);
  if (embert_thread_pool_threads(pool.get()) < 2) GTEST_SKIP() << "one thread";
  run(pool, [&] {
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(meets(pool, std::chrono::milliseconds(2)));
  });
}

TEST(ThreadPool, TheEndWakesThreadsThatSleep) {
  const Pool pool(embert_thread_pool_create(2));
  ASSERT_NE(pool, nullptr);
  for (int i = 0; i < 20; ++i) {
    run(pool, [&] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
  }
}

TEST(ThreadPool, TheLastTaskWakesTheCaller) {
  const Pool pool(embert_thread_pool_create(2));
  ASSERT_NE(pool, nullptr);
  run(pool, [&] {
    for (int i = 0; i < 20; ++i) {
      std::atomic<int> done{0};
      parallel_for(pool, 2, [&](std::size_t task) {
        if (task == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ++done;
      });
      ASSERT_EQ(done, 2);
    }
  });
}

}  // namespace
}  // namespace embert::test
