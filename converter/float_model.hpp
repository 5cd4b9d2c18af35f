// SPDX-License-Identifier: Apache-2.0
// The float32 reference of a BERT encoder: calibration watches it, verification compares with it.
// Texts of different lengths run side by side without padding: all their rows go through a
// fully-connected layer at once, attention stays within a text. The bits do not depend on the
// number of threads or on which texts run together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "converter/read_config.hpp"
#include "converter/read_weights.hpp"

namespace embert::convert {

/// Texts one after the other.
struct TokenBatch {
  std::vector<std::int32_t> ids;       ///< [tokens of all texts]
  std::vector<std::int32_t> type_ids;  ///< the same size, or empty: all 0
  std::vector<std::int32_t> lengths;   ///< tokens of each text, at least 1 each
};

/// Where in the network an activation was taken, in the order of computation.
enum class ActivationPoint {
  kEmbeddingSum,  ///< [tokens, H] word + segment + position, before LayerNorm; layer 0
  // of each layer:
  kLayerInput,        ///< [tokens, H] input of query, key and value
  kQuery,             ///< [tokens, H] with bias
  kKey,               ///< [tokens, H]
  kValue,             ///< [tokens, H]
  kContext,           ///< [tokens, H] input of the attention output
  kAttentionSum,      ///< [tokens, H] attention output + kLayerInput, before LayerNorm
  kFfnInput,          ///< [tokens, H] LayerNorm of kAttentionSum, input of the intermediate
  kFfnPreactivation,  ///< [tokens, I] intermediate before the activation function
  kFfnActivated,      ///< [tokens, I] after it, input of the output
  kOutputSum,         ///< [tokens, H] output + kFfnInput, before LayerNorm
  // of the model; layer is num_hidden_layers:
  kLastHidden,  ///< [tokens, H]
  kPooled,      ///< [texts, H]
  kLogits       ///< [texts, labels]
};

/// What an observer sees; valid during the call.
struct Activation {
  ActivationPoint point;
  int layer;
  std::size_t rows;
  std::size_t cols;
  const float* data;                      ///< [rows, cols]
  std::span<const std::int32_t> lengths;  ///< of the texts that run together here
};
/// Called in the thread of forward(). A large batch runs in several chunks of whole texts: all
/// points of one chunk, then all of the next.
using Observer = std::function<void(const Activation&)>;

class FloatModel {
 public:
  /// Copies what it needs of both. `threads` >= 1.
  FloatModel(const BertConfig& config, const BertWeights& weights, int threads);
  ~FloatModel();
  FloatModel(FloatModel&&) noexcept;
  FloatModel& operator=(FloatModel&&) noexcept;

  struct Output {
    std::vector<float> last_hidden_state;  ///< [tokens, H]
    std::vector<float> pooled;             ///< [texts, H], tanh; empty without pooler
    std::vector<float> logits;             ///< [texts, labels]; empty without classifier
  };
  /// Not for several threads at once. Throws ConvertError for ids, types or lengths out of range.
  Output forward(const TokenBatch& batch, const Observer* observer = nullptr);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace embert::convert
