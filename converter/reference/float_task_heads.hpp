// SPDX-License-Identifier: Apache-2.0
// The task heads of the float model: they read the last hidden state of a chunk.
#pragma once

#include <pthreadpool.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/reference/batch_chunk.hpp"
#include "converter/reference/forward_output.hpp"
#include "converter/reference/linear/float_linear.hpp"
#include "converter/reference/observer.hpp"

namespace embert::convert {

class FloatTaskHeads {
 public:
  /// Copies the parts of both that it needs.
  FloatTaskHeads(const ModelConfig& config, const ModelWeights& weights, FloatProducts products);

  bool has_language_head() const { return output_embeddings_.has_value(); }

  /// One chunk of the last stack, and where the results go.
  struct Run {
    const BatchChunk& chunk;
    const float* hidden;  ///< [rows, H] result of FloatStack::run()
    Viewer viewer;
    pthreadpool_t pool;
    ForwardOutput& out;
  };
  /// Appends to `out` the results of the heads that the model has: pooled, logits and token_logits,
  /// and the lm_logits of the chunk's rows among `lm_rows` (ForwardOptions).
  void run(const Run& run, const std::vector<std::int32_t>& lm_rows);

 private:
  // Fills first_ with the rows that the pooled vector is made of.
  void gather_pooler_input(const Run& run);
  void run_pooled(const Run& run);
  void run_tokens(const Run& run);
  // `rows` count from the chunk's first row.
  void run_language(const Run& run, const std::vector<std::size_t>& rows);

  StackConfig config_;  // of the last stack
  PooledConfig pooled_config_;
  HiddenAct token_act_, language_act_;
  std::optional<FloatLinear> pooler_, classifier_, token_transform_, token_classifier_;
  std::optional<LayerNorm> pooler_norm_, token_norm_;
  std::optional<FloatLinear> transform_, output_embeddings_;  // of the language head
  LayerNorm transform_norm_;

  FloatBuffer first_, pooled_;   // [texts, H]
  FloatBuffer tokens_;           // [tokens, H]
  FloatBuffer picked_, normed_;  // [rows, H]
  FloatBuffer scores_;           // [texts or rows, labels or V]
};

}  // namespace embert::convert
