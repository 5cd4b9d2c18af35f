// SPDX-License-Identifier: Apache-2.0
// run_threads() where there are no threads.
#include "tests/support/system/run_threads.hpp"

namespace embert::test {

void run_threads(void*, void (*task)(void*, std::size_t), void* argument, std::size_t tasks) {
  for (std::size_t i = tasks; i > 0; --i) task(argument, i - 1);
}

}  // namespace embert::test
