// SPDX-License-Identifier: Apache-2.0
// A model ready to run: thread pool, an arena of exactly the needed size, and the engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "embert/embert_host.h"
#include "embert/embert_run.h"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/model/model_file.hpp"
#include "targets/hosted/model/text_tokens.hpp"

namespace embert::cli {

/// The most texts that a subcommand passes through the model at once.
constexpr uint32_t kTextsPerRun = 16;

/// The texts of one run, one after another.
struct Batch {
  std::vector<int32_t> ids, type_ids;
  std::vector<uint32_t> lengths;

  void add(const std::vector<int32_t>& text_ids, const std::vector<int32_t>& text_type_ids);
  embert_input input() const;
};

/// A row of `width` values for each text or token; real = value * scale.
template <typename T>
struct Rows {
  size_t width = 0;
  std::vector<T> values;  ///< [rows x width]
  embert_scale scale = {};

  T* row(size_t i) { return values.data() + i * width; }
  const T* row(size_t i) const { return values.data() + i * width; }
};

class ModelSession {
 public:
  /// max_tokens: the longest text; 0: the model's own length. max_batch: the most texts of one run.
  /// Throws UsageError if max_tokens exceeds the model's positions.
  ModelSession(const ModelFile& file, uint32_t threads, uint32_t max_tokens, uint32_t max_batch);

  const ModelFile& file() const { return file_; }
  embert_engine* engine() const { return engine_; }
  const embert_options& options() const { return options_; }
  size_t arena_bytes() const { return arena_bytes_; }

  /// Tokenizes a text, or with `pair` a pair of texts, cut to the session's longest text.
  TextTokens tokenize(const std::string& text, const std::string* pair = nullptr) const;

  /// Returns a vector for each of any number of texts. A text without tokens (an empty line, if the
  /// tokenizer adds no special tokens) gets a row of zeros.
  Rows<int16_t> embed(const std::vector<TextTokens>& texts, embert_pooling pooling) const;
  /// Returns the classifier's logits for each text, with zeros as above.
  Rows<int32_t> classify(const std::vector<TextTokens>& texts) const;
  /// Returns the token classifier's logits for each token of a text, which has at least one.
  Rows<int32_t> classify_tokens(const TextTokens& text) const;
  /// Runs the model on one text, for the functions of embert_lm.h.
  void run(const TextTokens& text) const;

 private:
  struct PoolDeleter {
    void operator()(embert_thread_pool* pool) const { embert_thread_pool_destroy(pool); }
  };
  struct ArenaDeleter {
    void operator()(void* arena) const;
  };

  /// Calls call(input, first) for batches of texts: texts first, first + 1, ... Skips texts without
  /// tokens.
  template <typename Call>
  void run_all(const std::vector<TextTokens>& texts, Call call) const;
  void check_run(embert_status status) const;

  const ModelFile& file_;
  std::unique_ptr<embert_thread_pool, PoolDeleter> pool_;
  std::unique_ptr<void, ArenaDeleter> arena_;
  embert_options options_ = {.size = sizeof(options_)};
  size_t arena_bytes_ = 0;
  embert_engine* engine_ = nullptr;
};

}  // namespace embert::cli
