// SPDX-License-Identifier: Apache-2.0
// Counts of the server, as the text that Prometheus reads (exposition format 0.0.4).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace embert::serve {

/// Of one model.
class ModelMetrics {
 public:
  void count_batch(size_t texts, size_t tokens) {
    ++batches_;
    texts_ += texts;
    tokens_ += tokens;
  }
  uint64_t batches() const { return batches_; }
  uint64_t texts() const { return texts_; }
  uint64_t tokens() const { return tokens_; }

 private:
  std::atomic<uint64_t> batches_ = 0, texts_ = 0, tokens_ = 0;
};

/// A model as a line of the metrics shows it.
struct ModelFigures {
  std::string name;
  const ModelMetrics* metrics;
  size_t waiting;  ///< requests
};

class Metrics {
 public:
  /// route: one of few names, never what a client wrote.
  void count_request(const char* route, int status, double seconds);

  /// connections: those that are open.
  std::string text(const std::vector<ModelFigures>& models, size_t connections) const;

 private:
  static constexpr std::array<double, 12> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                     0.1,   0.25,   0.5,   1,    2.5,   10};
  struct Times {
    std::array<uint64_t, kBounds.size()> up_to = {};  ///< requests that took at most kBounds[i]
    uint64_t count = 0;
    double sum = 0;
  };

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> requests_;
  std::map<std::string, Times> times_;
};

}  // namespace embert::serve
