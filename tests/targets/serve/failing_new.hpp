// SPDX-License-Identifier: Apache-2.0
// One allocation of `operator new` after the other finds no memory.
#pragma once

#include <functional>

namespace embert::test {

enum class Threads { kThis, kOthers };

/// Repeats the call, each time with the next allocation of these threads failing once, until one
/// has fewer allocations. Returns how many failed. The call may throw std::bad_alloc.
int fail_each_allocation(Threads threads, const std::function<void()>& call);

}  // namespace embert::test
