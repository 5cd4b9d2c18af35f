// SPDX-License-Identifier: Apache-2.0
// The float32 reference of a BERT model: calibration observes it, verification compares the runtime
// with it. Texts of different lengths run side by side without padding: all their rows go through a
// fully-connected layer at once, and attention stays within a text. The bits depend neither on the
// number of threads nor on which texts run together.
#pragma once

#include <memory>

#include "converter/reference/forward_output.hpp"
#include "converter/reference/linear/float_products.hpp"
#include "converter/reference/observer.hpp"

namespace embert::convert {

struct ModelBatch;
struct ModelConfig;
struct ModelWeights;
struct TokenBatch;

class FloatModel {
 public:
  /// Copies the parts of both that it needs. `threads` >= 1.
  FloatModel(const ModelConfig& config, const ModelWeights& weights, int threads,
             FloatProducts products = FloatProducts::kSameEverywhere);
  ~FloatModel();
  FloatModel(FloatModel&&) noexcept;
  FloatModel& operator=(FloatModel&&) noexcept;

  using Output = ForwardOutput;
  /// A model of one stack. With cross-attention the batch brings encoder_states. One call at a
  /// time. Throws ConvertError for a batch that does not fit (check_batch()).
  Output forward(const TokenBatch& batch, const Observer* observer = nullptr,
                 const ForwardOptions& options = {});

  struct PairOutput {
    Output encoder, decoder;
  };
  /// A model of two stacks: the encoder over `source`, then the decoder over `target`, whose texts
  /// belong to those of `source` in order. `target` brings no encoder_states; the key_mask of
  /// `source` serves as source_key_mask. The results of the task heads are in `decoder`.
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
