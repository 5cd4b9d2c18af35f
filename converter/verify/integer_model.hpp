// SPDX-License-Identifier: Apache-2.0
// Runs a blob through the runtime's public interface, with the memory and threads that it needs.
// Verification and the certificate compare its results with the float model's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "converter/model/token_batch.hpp"
#include "embert/embert_host.h"
#include "embert/embert_inspect.h"

namespace embert::convert {

/// One row for each text or token.
struct TextVectors {
  std::size_t width = 0;
  std::vector<std::int32_t> values;  ///< [rows, width]
  double scale = 1;                  ///< real = value * scale

  std::span<const std::int32_t> row(std::size_t number) const {
    return {values.data() + number * width, width};
  }
};

class IntegerModel {
 public:
  struct Options {
    std::uint32_t isa_mask = 0;    ///< EMBERT_ISA_*; 0: scalar kernels
    std::uint32_t threads = 1;     ///< at most; never more than the process has processors
    std::uint32_t max_tokens = 0;  ///< 0: the model's own limit
    std::uint32_t max_batch = 8;
  };
  /// `blob` must outlive this object; it is copied if it is not aligned to 64 bytes. Throws
  /// ConvertError with the runtime's status.
  IntegerModel(std::span<const std::uint8_t> blob, const Options& options);
  ~IntegerModel();
  IntegerModel(const IntegerModel&) = delete;
  IntegerModel& operator=(const IntegerModel&) = delete;

  const embert_model_info& info() const { return info_; }
  const embert_model& model() const { return model_; }
  /// Tokens of a text, special tokens included.
  std::uint32_t max_tokens() const { return options_.max_tokens; }
  std::size_t arena_bytes() const { return arena_bytes_; }
  /// The whole arena, so that tests can overwrite it before restart().
  std::span<std::uint8_t> arena() { return {arena_.get(), arena_bytes_}; }
  /// Makes a new engine in the same arena, whatever the arena holds.
  void restart();

  /// Cuts each text at max_tokens. Throws ConvertError where the model has no tokenizer.
  TokenBatch tokenize(std::span<const std::string_view> texts) const;
  /// The ids of a text of any length, uncut.
  std::vector<std::int32_t> tokenize_whole(std::string_view text) const;

  /// The checksum that the self-test computes, whether or not the blob expects it.
  std::uint32_t selftest();

  // Every call starts each text from an empty cache; pairs run their sources first.
  TextVectors embed(const ModelBatch& batch);
  TextVectors pooler_output(const ModelBatch& batch);
  TextVectors classify(const ModelBatch& batch);
  /// Rows are tokens.
  TextVectors last_hidden_state(const ModelBatch& batch);
  /// [layers + 1]: before the first layer, then behind each one; rows are tokens.
  std::vector<TextVectors> hidden_states(const ModelBatch& batch);
  /// Logits of the token classifier; rows are tokens.
  TextVectors classify_tokens(const ModelBatch& batch);
  /// Logits over the vocabulary for one token of each text: token asked[i] of text i.
  TextVectors lm_logits(const ModelBatch& batch, std::span<const std::size_t> asked);

 private:
  /// Calls run(input, tokens) with parts of up to max_batch texts, each on an empty cache and with
  /// its sources.
  template <typename Run>
  void for_parts(const ModelBatch& batch, const Run& run);
  void set_sources(const ModelBatch& part);
  /// One 16-bit row of `width` values for each text, written by call(input, rows, scale).
  template <typename Call>
  TextVectors rows_of(const ModelBatch& batch, const char* name, std::size_t width,
                      const Call& call);

  struct AlignedDelete {
    void operator()(std::uint8_t* bytes) const;
  };
  using AlignedBytes = std::unique_ptr<std::uint8_t, AlignedDelete>;
  struct PoolDelete {
    void operator()(embert_thread_pool* pool) const { embert_thread_pool_destroy(pool); }
  };
  static AlignedBytes allocate(std::size_t bytes);

  AlignedBytes copy_;
  std::unique_ptr<embert_thread_pool, PoolDelete> pool_;
  embert_model model_ = {};
  embert_model_info info_ = {.size = sizeof(info_)};
  embert_options options_ = {.size = sizeof(options_)};
  std::size_t arena_bytes_ = 0;
  AlignedBytes arena_;
  embert_engine* engine_ = nullptr;
};

}  // namespace embert::convert
