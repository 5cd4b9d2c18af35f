// SPDX-License-Identifier: Apache-2.0
// A model ready to run: its file, a thread pool, an arena of just the size needed and the engine.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "embert/embert.h"
#include "embert/embert_host.h"
#include "targets/cli/model_file.hpp"
#include "targets/cli/run_options.hpp"

namespace embert::cli {

/// Texts of one call, one after another. A text without a token, as an empty line is where the
/// tokenizer adds no special tokens, has a length and no place in the call: it gets no result.
struct Batch {
  std::vector<int32_t> ids, type_ids;
  std::vector<uint32_t> lengths;         ///< of all texts
  std::vector<uint32_t> filled_lengths;  ///< of the texts in the call

  void add(const std::vector<int32_t>& text_ids, const std::vector<int32_t>& text_type_ids);
  embert_input input() const;
  bool empty() const { return filled_lengths.empty(); }
};

class EncoderSession {
 public:
  /// max_tokens 0: the model's own.
  EncoderSession(const ModelFile& file, uint32_t threads, uint32_t max_tokens, uint32_t max_batch);

  embert_engine* engine() const { return engine_; }
  const embert_options& options() const { return options_; }
  size_t arena_bytes() const { return arena_bytes_; }

  /// The texts' tokens, cut to max_tokens.
  Batch tokenize(const std::vector<std::string>& texts) const;

 private:
  struct PoolDeleter {
    void operator()(embert_thread_pool* pool) const { embert_thread_pool_destroy(pool); }
  };
  struct ArenaDeleter {
    void operator()(void* arena) const;
  };

  const ModelFile& file_;
  std::unique_ptr<embert_thread_pool, PoolDeleter> pool_;
  std::unique_ptr<void, ArenaDeleter> arena_;
  embert_options options_ = {};
  size_t arena_bytes_ = 0;
  embert_engine* engine_ = nullptr;
};

}  // namespace embert::cli
