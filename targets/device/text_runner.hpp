// SPDX-License-Identifier: Apache-2.0
// Runs a model on one text in memory of stated size. Device and desktop share it, so that their
// results can be compared.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "embert/embert_inspect.h"
#include "embert/embert_run.h"
#include "targets/device/protocol.hpp"

namespace embert::device {

/// The buffers for ids and outputs of one text.
struct TextBuffers {
  int32_t* ids;        ///< [max_tokens]
  int32_t* type_ids;   ///< [max_tokens]
  int32_t* logits;     ///< [num_labels]; used with a classifier
  int16_t* embedding;  ///< [vector_size]; used without one
};

class TextRunner {
 public:
  /// Makes an engine in the arena for texts of up to max_tokens. Blob, arena and buffers must live
  /// as long as the runner. Fails as embert_engine_init does; NO_TOKENIZER if the model has none.
  embert_status open(const embert_model& model, uint32_t max_tokens, void* arena,
                     size_t arena_bytes, const TextBuffers& buffers);

  /// Runs the model's self-test on this engine.
  embert_status selftest() { return embert_selftest(engine_, nullptr); }

  /// Runs the model on a text, a decoder with an empty KV cache. Fills in everything except ticks
  /// and stack_bytes.
  RunReply run(const char* text, size_t text_bytes);

  const embert_model* model() const { return &model_; }
  embert_engine* engine() const { return engine_; }
  const embert_model_info& info() const { return info_; }
  uint32_t max_tokens() const { return max_tokens_; }
  size_t arena_bytes() const { return arena_bytes_; }
  /// The logits of the last text; real = value * logits_scale().
  const int32_t* logits() const { return buffers_.logits; }
  embert_scale logits_scale() const { return logits_scale_; }

 private:
  size_t arena_high_water() const;

  embert_model model_ = {};
  embert_model_info info_ = {};
  embert_engine* engine_ = nullptr;
  TextBuffers buffers_ = {};
  embert_scale logits_scale_ = {};
  uint32_t max_tokens_ = 0;
  const uint8_t* arena_ = nullptr;
  size_t arena_bytes_ = 0;
};

}  // namespace embert::device
