// SPDX-License-Identifier: Apache-2.0
#include "targets/serve/memory_budget.hpp"

#include "targets/serve/limits.hpp"
#include "targets/serve/request_error.hpp"

namespace embert::serve {

static thread_local RequestMemory* current_memory = nullptr;

bool MemoryBudget::take(size_t bytes) {
  size_t before = free_;
  while (before >= bytes) {
    if (free_.compare_exchange_weak(before, before - bytes)) return true;
  }
  return false;
}

RequestMemory::RequestMemory(MemoryBudget& budget) : budget_(budget) { current_memory = this; }

RequestMemory::~RequestMemory() {
  current_memory = nullptr;
  budget_.give_back(taken_);
}

RequestMemory& RequestMemory::current() { return *current_memory; }

void RequestMemory::add(uint64_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= kSmallRequest) return;
  if (bytes_ > budget_.bytes()) {
    throw RequestError(413, "request_too_large",
                       "the request needs about " + grouped(bytes_) +
                           " bytes of memory; there are " + grouped(budget_.bytes()) +
                           " (--max-memory); send fewer texts");
  }
  const size_t more = static_cast<size_t>(bytes_) - taken_;
  if (!budget_.take(more)) {
    throw RequestError(429, "out_of_memory",
                       "other requests have the memory that this one needs, " + grouped(bytes_) +
                           " bytes (--max-memory); try again later");
  }
  taken_ += more;
}

}  // namespace embert::serve
