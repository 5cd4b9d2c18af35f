// SPDX-License-Identifier: Apache-2.0
// The heads of the float model: what reads the last hidden state of a chunk.
#pragma once

#include <pthreadpool.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/reference/batch_chunk.hpp"
#include "converter/reference/forward_output.hpp"
#include "converter/reference/observer.hpp"
#include "converter/reference/xnn_linear.hpp"

namespace embert::convert {

class FloatHeads {
 public:
  /// Copies what it needs of both.
  FloatHeads(const ModelConfig& config, const ModelWeights& weights);

  bool has_language_head() const { return output_embeddings_.has_value(); }

  /// Appends what the model has of pooled, logits and token_logits, and lm_logits of the chunk's
  /// rows among ForwardOptions::lm_rows, to `out`. `hidden` is FloatStack::run()'s.
  void run(const BatchChunk& chunk, const float* hidden, const ForwardOptions& options,
           const Viewer& viewer, pthreadpool_t pool, ForwardOutput& out);

 private:
  void run_pooled(const BatchChunk& chunk, const float* hidden, const Viewer& viewer,
                  pthreadpool_t pool, ForwardOutput& out);
  // `rows` are the chunk's, from its first row.
  void run_language(const std::vector<std::size_t>& rows, const float* hidden, const Viewer& viewer,
                    pthreadpool_t pool, ForwardOutput& out);

  StackConfig config_;  // of the stack below
  std::optional<XnnLinear> pooler_, classifier_, token_classifier_;
  std::optional<XnnLinear> transform_, output_embeddings_;  // of the language head
  LayerNorm transform_norm_;

  FloatBuffer first_, pooled_;   // [texts, H]
  FloatBuffer picked_, normed_;  // [rows, H]
  FloatBuffer scores_;           // [texts or rows, labels or V]
};

}  // namespace embert::convert
