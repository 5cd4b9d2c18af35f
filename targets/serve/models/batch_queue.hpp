// SPDX-License-Identifier: Apache-2.0
// Requests wait here for a model. One thread takes the texts of all that wait, runs them as one
// call of the library, and takes again what has come meanwhile: no request waits for others to
// come, and many together run as fast as a long list.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "embert/embert.h"
#include "targets/serve/metrics.hpp"

namespace embert::hosted {
class HostedModel;
struct TokenLists;
}  // namespace embert::hosted

namespace embert::serve {

using hosted::HostedModel;
using hosted::TokenLists;

/// Texts of one kind can run together.
enum class BatchKind { kVectors, kLogits };

/// The results of a request's texts in their order; real = value * scale.
struct BatchRows {
  std::vector<int16_t> vectors;  ///< kVectors: [texts x vector_size]
  std::vector<int32_t> logits;   ///< kLogits: [texts x num_labels]
  embert_scale scale = {};
};

class BatchQueue {
 public:
  /// most_requests: that wait or run.
  BatchQueue(HostedModel& model, uint32_t most_requests, ModelMetrics& metrics);
  /// No request may be waiting.
  ~BatchQueue();
  BatchQueue(const BatchQueue&) = delete;
  BatchQueue& operator=(const BatchQueue&) = delete;

  /// Runs texts that the model can run and returns when all are done. Throws RequestError, 429, if
  /// the queue is full.
  BatchRows run(BatchKind kind, const TokenLists& texts);

  size_t waiting() const;

 private:
  struct Job;
  /// The part of a job's texts that runs next.
  struct Part {
    Job* job;
    size_t begin, end;
  };

  void work();
  void take_parts() noexcept;
  void run_parts(BatchKind kind);

  HostedModel& model_;
  const uint32_t most_requests_;
  ModelMetrics& metrics_;
  mutable std::mutex mutex_;  ///< of all members below, and of jobs
  std::condition_variable wake_;
  std::list<Job*> jobs_;  ///< with texts that have not begun
  size_t requests_ = 0;
  bool stopping_ = false;
  std::vector<Part> parts_;  ///< of the turn that runs; the thread's, with room for all requests
  std::thread thread_;
};

}  // namespace embert::serve
