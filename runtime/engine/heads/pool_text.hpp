// SPDX-License-Identifier: Apache-2.0
// The vector of a text from its hidden states: pooling, and where the model has them (BlobVector)
// several poolings side by side and dense layers behind them. The caller's thread computes it, in
// the scratch of task 0.
#pragma once

#include "runtime/engine/engine.hpp"

namespace embert {

/// One pooling of a text: hidden s16 [length][H] -> vector s16 [H]. It has length 1 (scale 2^-15)
/// where the model normalises, else the hidden state's scale.
void pool_text(const Buffers& buffers, const int16_t* hidden, size_t length, BlobPooling pooling,
               int16_t* vector);

/// The vector that the model was made for: hidden s16 [length][H] -> vector s16
/// [model_vector_size], with vector_scale.
void make_vector(const Buffers& buffers, const int16_t* hidden, size_t length, int16_t* vector);

/// The same from static embeddings: the mean over ids [length], zeros without tokens.
void make_static_vector(const Buffers& buffers, const int32_t* ids, size_t length, int16_t* vector);

/// float32 bits of the scale of make_vector's result.
uint32_t vector_scale(const Model& model);

}  // namespace embert
