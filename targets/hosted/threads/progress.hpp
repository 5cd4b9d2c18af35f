// SPDX-License-Identifier: Apache-2.0
// How many texts of a call are done, told to the caller at most ten times a second.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

#include "targets/hosted/embert_hosted.h"

namespace embert::hosted {

class Progress {
 public:
  /// function may be null.
  Progress(embert_hosted_progress function, void* context, size_t total);

  /// Counts texts that are done. In any thread.
  void add(size_t texts) { done_.fetch_add(texts, std::memory_order_relaxed); }

  // In the caller's thread only.

  bool wanted() const { return function_ != nullptr; }
  /// Whether the last report is 0.1 s ago.
  bool is_due() const;
  /// Calls the function. Returns whether the call shall end.
  bool report();
  /// The last report of a call; throws Cancelled if the function asks for it.
  void finish();

  static constexpr std::chrono::milliseconds kInterval{100};

 private:
  embert_hosted_progress function_;
  void* context_;
  size_t total_;
  std::atomic<size_t> done_ = 0;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace embert::hosted
