// SPDX-License-Identifier: Apache-2.0
// A parallel_for for the options of an engine.
#pragma once

#include <cstddef>

namespace embert::test {

/// A thread a task; on bare metal one after the other, the last one first.
void run_threads(void*, void (*task)(void*, std::size_t), void* argument, std::size_t tasks);

}  // namespace embert::test
