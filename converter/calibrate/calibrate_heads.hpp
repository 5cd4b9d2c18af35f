// SPDX-License-Identifier: Apache-2.0
// What the heads, and the projection between two stacks, read and how far their results reach: the
// part of the first calibration pass behind the layers.
#pragma once

#include <cstddef>

#include "converter/calibrate/model_batch.hpp"
#include "converter/calibrate/row_sample.hpp"

namespace embert::convert {

/// Rows of what the heads read; empty and 0 where the model has no such head.
struct HeadRanges {
  Matrix first_hidden;    ///< [texts, H] last hidden state of the first tokens
  Matrix pooled;          ///< [texts, H]
  Matrix token_hidden;    ///< [rows, H] last hidden state
  Matrix lm_input;        ///< [rows, H] last hidden state
  Matrix lm_normed;       ///< [rows, H] LayerNorm of its transform, if it has one
  Matrix encoder_hidden;  ///< [rows, H of the encoder] its last hidden state, of two stacks
  // largest magnitudes:
  float logits = 0, token_logits = 0;
  float lm_transform = 0;  ///< before the activation
  float lm_logits = 0;
  float projected = 0;
};

/// Tokens that go through the language head.
inline constexpr std::size_t kLmCalibrationRows = 2048;

class HeadRecorder {
 public:
  HeadRecorder(const ModelConfig& config, const ModelBatch& batch);
  void see(const Activation& activation);
  HeadRanges take();

 private:
  bool token_classifier_;
  int last_stack_;
  HeadRanges ranges_;
  RowSample token_hidden_, encoder_hidden_;
};

/// Grows `most` to the largest magnitude of an activation.
void grow(float& most, const Activation& activation);
/// Largest magnitude of each column.
std::vector<float> column_maxima(const Activation& activation);

}  // namespace embert::convert
