// SPDX-License-Identifier: Apache-2.0
// The memory that all requests may take together. Small requests always fit: their number is
// bounded by the connections. Large ones are refused while others have the memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace embert::serve {

class MemoryBudget {
 public:
  explicit MemoryBudget(size_t bytes) : bytes_(bytes), free_(bytes) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  size_t bytes() const { return bytes_; }
  bool take(size_t bytes);
  void give_back(size_t bytes) { free_ += bytes; }

 private:
  const size_t bytes_;
  std::atomic<size_t> free_;
};

/// The memory of the request that this thread answers; it lives until the answer is sent.
class RequestMemory {
 public:
  explicit RequestMemory(MemoryBudget& budget);
  ~RequestMemory();
  RequestMemory(const RequestMemory&) = delete;
  RequestMemory& operator=(const RequestMemory&) = delete;

  /// Throws RequestError: 429 if others have the room for so many more bytes, 413 if there is never
  /// so much.
  void add(uint64_t bytes);

  /// That of this thread.
  static RequestMemory& current();

 private:
  MemoryBudget& budget_;
  uint64_t bytes_ = 0;  ///< what the request takes
  size_t taken_ = 0;    ///< of the budget
};

}  // namespace embert::serve
