// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/threads/progress.hpp"

#include "targets/hosted/hosted_error.hpp"

namespace embert::hosted {

Progress::Progress(embert_hosted_progress function, void* context, size_t total)
    : function_(function),
      context_(context),
      total_(total),
      last_(std::chrono::steady_clock::now()) {}

bool Progress::is_due() const {
  return function_ != nullptr && std::chrono::steady_clock::now() - last_ >= kInterval;
}

bool Progress::report() {
  last_ = std::chrono::steady_clock::now();
  return function_(context_, done_.load(std::memory_order_relaxed), total_) != 0;
}

void Progress::finish() {
  if (function_ != nullptr && function_(context_, total_, total_) != 0) throw Cancelled();
}

}  // namespace embert::hosted
