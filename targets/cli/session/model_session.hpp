// SPDX-License-Identifier: Apache-2.0
// A model ready to run: its file, a thread pool, an arena of just the size needed and the engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "embert/embert.h"
#include "embert/embert_host.h"
#include "targets/cli/io/model_file.hpp"
#include "targets/cli/session/text_tokens.hpp"

namespace embert::cli {

/// Texts of one call, one after another.
struct Batch {
  std::vector<int32_t> ids, type_ids;
  std::vector<uint32_t> lengths;

  void add(const std::vector<int32_t>& text_ids, const std::vector<int32_t>& text_type_ids);
  embert_input input() const;
};

/// A row of `width` numbers for each text or token; real = value * scale.
template <typename T>
struct Rows {
  size_t width = 0;
  std::vector<T> values;
  embert_scale scale = {};

  T* row(size_t i) { return values.data() + i * width; }
  const T* row(size_t i) const { return values.data() + i * width; }
};

class ModelSession {
 public:
  /// max_tokens 0: the model's own. Throws UsageError for more than its positions.
  ModelSession(const ModelFile& file, uint32_t threads, uint32_t max_tokens, uint32_t max_batch);

  embert_engine* engine() const { return engine_; }
  const embert_options& options() const { return options_; }
  size_t arena_bytes() const { return arena_bytes_; }

  /// A text, or a pair where `pair` is not null, cut to the longest text of this session.
  TextTokens tokenize(const std::string& text, const std::string* pair = nullptr) const;

  /// A vector, or the classifier's logits, for each of any number of texts. A text without a token,
  /// as an empty line is where the tokenizer adds no special tokens, has a row of zeros.
  Rows<int16_t> embed(const std::vector<TextTokens>& texts, embert_pooling pooling) const;
  Rows<int32_t> classify(const std::vector<TextTokens>& texts) const;
  /// The token classifier's logits for each token of a text, which has some.
  Rows<int32_t> classify_tokens(const TextTokens& text) const;
  /// A pass over one text, for embert_lm.h.
  void run(const TextTokens& text) const;

 private:
  struct PoolDeleter {
    void operator()(embert_thread_pool* pool) const { embert_thread_pool_destroy(pool); }
  };
  struct ArenaDeleter {
    void operator()(void* arena) const;
  };

  /// call(input, row) for texts row, row + 1, ... until all that have tokens have been in a call.
  template <typename Call>
  void run_all(const std::vector<TextTokens>& texts, Call call) const;
  void check_run(embert_status status) const;

  const ModelFile& file_;
  std::unique_ptr<embert_thread_pool, PoolDeleter> pool_;
  std::unique_ptr<void, ArenaDeleter> arena_;
  embert_options options_ = {};
  size_t arena_bytes_ = 0;
  embert_engine* engine_ = nullptr;
};

}  // namespace embert::cli
