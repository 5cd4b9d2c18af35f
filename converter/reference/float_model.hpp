// SPDX-License-Identifier: Apache-2.0
// The float32 reference of a BERT model: calibration watches it, verification compares with it.
// Texts of different lengths run side by side without padding: all their rows go through a
// fully-connected layer at once, attention stays within a text. The bits do not depend on the
// number of threads or on which texts run together.
#pragma once

#include <memory>

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/reference/forward_output.hpp"
#include "converter/reference/observer.hpp"

namespace embert::convert {

class FloatModel {
 public:
  /// Copies what it needs of both. `threads` >= 1.
  FloatModel(const ModelConfig& config, const ModelWeights& weights, int threads);
  ~FloatModel();
  FloatModel(FloatModel&&) noexcept;
  FloatModel& operator=(FloatModel&&) noexcept;

  using Output = ForwardOutput;
  /// A model of one stack; with cross-attention the batch has encoder_states. Not for several
  /// threads at once. Throws ConvertError for ids, lengths, masks ... that do not fit.
  Output forward(const TokenBatch& batch, const Observer* observer = nullptr,
                 const ForwardOptions& options = {});

  struct PairOutput {
    Output encoder, decoder;
  };
  /// A model of two stacks: the encoder over `source`, then the decoder over `target`, text by
  /// text; `target` has no encoder_states, and source_key_mask is the key_mask of `source`. The
  /// heads are in `decoder`.
  PairOutput forward_pair(const TokenBatch& source, const TokenBatch& target,
                          const Observer* observer = nullptr, const ForwardOptions& options = {});

  /// forward() or forward_pair(), whichever the batch is for; returns the last stack's output.
  Output forward_batch(const ModelBatch& batch, const Observer* observer = nullptr,
                       const ForwardOptions& options = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace embert::convert
