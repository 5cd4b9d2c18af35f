// SPDX-License-Identifier: Apache-2.0
// A parallel_for for the options of an engine.
#pragma once

#include <cstddef>

namespace embert::test {

/// One thread for each task. On bare metal the caller runs all tasks, the last one first.
void run_threads(void*, void (*task)(void*, std::size_t), void* argument, std::size_t tasks);

}  // namespace embert::test
