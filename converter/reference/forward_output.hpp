// SPDX-License-Identifier: Apache-2.0
// Options and results of a forward pass of the float model.
#pragma once

#include <cstdint>
#include <vector>

namespace embert::convert {

/// Results that forward() computes on request. The others it computes wherever the model has them.
struct ForwardOptions {
  bool hidden_states = false;
  bool attentions = false;
  /// Tokens of the batch, in rising order, for which the language head runs.
  std::vector<std::int32_t> lm_rows{};
};

/// Members are empty where the model has no such head or the caller did not ask for them.
struct ForwardOutput {
  std::vector<float> last_hidden_state;  ///< [tokens, H]
  std::vector<float> pooled;             ///< [texts, H], after tanh
  std::vector<float> logits;             ///< [texts, labels]
  std::vector<float> token_logits;       ///< [tokens, labels]
  std::vector<float> lm_logits;          ///< [lm_rows, V]
  /// [layers + 1] of [tokens, H]: the first layer's input, then each layer's output. That is the
  /// normalised output in post-LayerNorm stacks, the residual sum in pre-LayerNorm stacks.
  std::vector<std::vector<float>> hidden_states;
  /// [layers] of each text [heads of the layer, length, length], times the head mask.
  std::vector<std::vector<float>> attentions;
  /// [layers] of each text [heads, length, source length], times the head mask.
  std::vector<std::vector<float>> cross_attentions;
};

}  // namespace embert::convert
