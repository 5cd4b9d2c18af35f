// SPDX-License-Identifier: Apache-2.0
#include "tests/support/system/run_threads.hpp"

#include <thread>
#include <vector>

namespace embert::test {

void run_threads(void*, void (*task)(void*, std::size_t), void* argument, std::size_t tasks) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < tasks; ++i) threads.emplace_back(task, argument, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace embert::test
