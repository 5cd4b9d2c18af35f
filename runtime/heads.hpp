// SPDX-License-Identifier: Apache-2.0
// What stands behind the encoder. Each function works on one text of the last hidden state, in the
// calling thread.
#pragma once

#include "runtime/engine.hpp"

namespace embert {

/// Sentence vector of hidden [length][H]: mean, first row or maximum of each column; of length 1 in
/// Q15 where the model normalises, else in the scale of the hidden state.
void pool_text(Engine& engine, const int16_t* hidden, size_t length, uint32_t pooling,
               int16_t* embedding);

/// BERT's pooler (Devlin et al. 2018, section 3.1): pooled = tanh(W h_0 + b) in units of 1/28672.
void pool_first_token(Engine& engine, const int16_t* hidden, int16_t* pooled);

/// Classifier on the pooler's output: logits [num_labels].
void classify_text(Engine& engine, const int16_t* hidden, int32_t* logits);

}  // namespace embert
