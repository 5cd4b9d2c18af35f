// SPDX-License-Identifier: Apache-2.0
#include "tests/targets/serve/failing_new.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace embert::test {
namespace {

constexpr int kNone = -1;
std::atomic<int> before_failure = kNone;  // allocations
std::atomic<Threads> failing_threads = Threads::kThis;
thread_local bool is_this_thread = false;

bool fails() {
  if (is_this_thread != (failing_threads == Threads::kThis)) return false;
  int left = before_failure;
  while (left != kNone && !before_failure.compare_exchange_weak(left, left - 1)) {
  }
  return left == 0;
}

}  // namespace

int fail_each_allocation(Threads threads, const std::function<void()>& call) {
  is_this_thread = true;
  failing_threads = threads;
  for (int failed = 0;; ++failed) {
    before_failure = failed;
    try {
      call();
    } catch (const std::bad_alloc&) {
    }
    if (before_failure.exchange(kNone) != kNone) return failed;
  }
}

}  // namespace embert::test

void* operator new(size_t bytes) {
  void* memory = embert::test::fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return embert::test::fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
