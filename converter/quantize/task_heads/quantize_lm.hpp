// SPDX-License-Identifier: Apache-2.0
// The language model's head: transform, LayerNorm, and the output embeddings. These have a row for
// each token of the vocabulary: the word embeddings as the blob holds them, or rows of their own.
#pragma once

#include "converter/model/calibration_ranges.hpp"
#include "converter/model/model_config.hpp"
#include "converter/quantize/task_heads/quantize_dense16.hpp"

namespace embert::convert {

struct LmSource {
  const StackConfig& config;  ///< of the stack below the head, as the next two
  const Matrix& word_embeddings;
  const QuantizedStack& stack;
  const LanguageHead& head;
  std::optional<HiddenAct> act;  ///< of the transform; absent: that of the layers
  const HeadRanges& ranges;
  double hidden_scale;  ///< of the last hidden states
};

QuantizedLm quantize_lm(const LmSource& source, const Dense16Rounding& rounding);

}  // namespace embert::convert
