// SPDX-License-Identifier: Apache-2.0
#include "targets/serve/models/batch_queue.hpp"

#include <algorithm>
#include <atomic>
#include <string>

#include "targets/hosted/texts/run_texts.hpp"
#include "targets/hosted/texts/token_chunk.hpp"
#include "targets/serve/request_error.hpp"

namespace embert::serve {
namespace {

/// The tokens of a turn: 16 passes of the library's size, so that passes hold texts of like length.
constexpr size_t kTokensPerTurn = 8192;
/// The least that a request gets in a turn, if it has so many: a pass.
constexpr size_t kLeastTokens = 512;

}  // namespace

struct BatchQueue::Job {
  BatchKind kind;
  const TokenLists& texts;
  size_t next = 0;  ///< the first text that has not begun
  BatchRows rows = {};
  std::exception_ptr failure = {};
  bool done = false;
  std::condition_variable wake = {};
};

BatchQueue::BatchQueue(HostedModel& model, uint32_t most_requests, ModelMetrics& metrics)
    : model_(model), most_requests_(most_requests), metrics_(metrics) {
  parts_.reserve(most_requests);
  thread_ = std::thread([this] { work(); });
}

BatchQueue::~BatchQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

BatchRows BatchQueue::run(BatchKind kind, const TokenLists& texts) {
  const embert_model_info& info = model_.file().info();
  Job job = {.kind = kind, .texts = texts};
  if (kind == BatchKind::kVectors) {
    job.rows.vectors.resize(texts.count() * info.vector_size);
  } else {
    job.rows.logits.resize(texts.count() * info.num_labels);
  }
  std::unique_lock lock(mutex_);
  if (requests_ >= most_requests_) {
    throw RequestError(429, "queue_full",
                       std::to_string(requests_) +
                           " requests wait for this model already (--max-queue); try again later");
  }
  jobs_.push_back(&job);
  ++requests_;
  wake_.notify_one();
  job.wake.wait(lock, [&] { return job.done; });
  --requests_;
  if (job.failure) std::rethrow_exception(job.failure);
  return std::move(job.rows);
}

size_t BatchQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void BatchQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const BatchKind kind = jobs_.front()->kind;
    take_parts();
    lock.unlock();
    std::exception_ptr failure;
    try {
      run_parts(kind);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    for (const Part& part : parts_) {
      Job& job = *part.job;
      if (failure) {
        if (job.next < job.texts.count()) jobs_.remove(&job);
        job.failure = failure;
      }
      if (!failure && part.end < job.texts.count()) continue;
      job.done = true;
      job.wake.notify_one();  // the last touch of the job: its owner may return
    }
  }
}

/// Shares a turn among the jobs of the first one's kind. Who has texts left goes behind the others.
/// Allocates nothing: a bad_alloc would end the process.
void BatchQueue::take_parts() noexcept {
  const BatchKind kind = jobs_.front()->kind;
  const auto is_of_kind = [kind](const Job* job) { return job->kind == kind; };
  const auto jobs = static_cast<size_t>(std::count_if(jobs_.begin(), jobs_.end(), is_of_kind));
  const size_t share = std::max(kLeastTokens, kTokensPerTurn / jobs);
  parts_.clear();
  std::list<Job*> unfinished;
  size_t tokens = 0;
  for (auto at = jobs_.begin(); at != jobs_.end() && tokens < kTokensPerTurn;) {
    Job& job = **at;
    if (job.kind != kind) {
      ++at;
      continue;
    }
    const size_t begin = job.next;
    for (size_t of_job = 0; job.next < job.texts.count() && of_job < share; ++job.next) {
      of_job += job.texts.tokens_of(job.next);
      tokens += job.texts.tokens_of(job.next);
    }
    parts_.push_back({&job, begin, job.next});
    const auto taken = at++;
    if (job.next < job.texts.count()) {
      unfinished.splice(unfinished.end(), jobs_, taken);
    } else {
      jobs_.erase(taken);
    }
  }
  jobs_.splice(jobs_.end(), unfinished);
}

void BatchQueue::run_parts(BatchKind kind) {
  struct Owner {
    Job* job;
    size_t text;  ///< of the job
  };
  TokenLists texts;
  std::vector<Owner> owners;
  for (const Part& part : parts_) {
    texts.append(part.job->texts, part.begin, part.end);
    for (size_t text = part.begin; text < part.end; ++text) owners.push_back({part.job, text});
  }
  std::atomic<uint32_t> scale = 0;  // the same for all texts of a model
  if (kind == BatchKind::kVectors) {
    const size_t width = model_.file().info().vector_size;
    embed_tokens(model_, texts, EMBERT_POOLING_MODEL, [&](const TextRow<int16_t>& row) {
      const Owner& owner = owners[row.text];
      std::copy_n(row.values, width, owner.job->rows.vectors.data() + owner.text * width);
      scale = row.scale.float_bits;
    });
  } else {
    const size_t width = model_.file().info().num_labels;
    classify_tokens(model_, texts, [&](const TextRow<int32_t>& row) {
      const Owner& owner = owners[row.text];
      std::copy_n(row.values, width, owner.job->rows.logits.data() + owner.text * width);
      scale = row.scale.float_bits;
    });
  }
  for (const Part& part : parts_) part.job->rows.scale.float_bits = scale;
  metrics_.count_batch(texts.count(), texts.ids.size());
}

}  // namespace embert::serve
