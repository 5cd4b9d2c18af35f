// SPDX-License-Identifier: Apache-2.0
// A model in memory of stated size, and what it makes of one text: on the device, and on the
// desktop to compare with.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "embert/embert.h"
#include "targets/device/protocol.hpp"

namespace embert::device {

/// Ids and outputs of one text.
struct TextBuffers {
  int32_t* ids;        ///< [max_tokens]
  int32_t* type_ids;   ///< [max_tokens]
  int32_t* logits;     ///< [num_labels]; not used without a classifier
  int16_t* embedding;  ///< [hidden_size]; not used with one
};

class TextRunner {
 public:
  /// Puts an engine for texts of max_tokens into the arena. Blob, arena and buffers stay in use.
  embert_status open(const embert_model& model, uint32_t max_tokens, void* arena,
                     size_t arena_bytes, const TextBuffers& buffers);

  /// Of the model, with the engine that texts will have.
  embert_status selftest() { return embert_selftest(engine_, nullptr); }

  /// Everything of a reply but ticks and stack.
  RunReply run(const char* text, size_t text_bytes);

  const embert_model* model() const { return &model_; }
  const embert_model_info& info() const { return info_; }
  uint32_t max_tokens() const { return max_tokens_; }
  size_t arena_bytes() const { return arena_bytes_; }
  /// Of the last text, and what its steps are.
  const int32_t* logits() const { return buffers_.logits; }
  embert_scale logits_scale() const { return logits_scale_; }

 private:
  size_t used_arena() const;

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
