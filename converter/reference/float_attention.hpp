// SPDX-License-Identifier: Apache-2.0
// Attention of the float reference: scores, masks, softmax and the weighted sum of values, for each
// text and attention head on its own.
#pragma once

#include <pthreadpool.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "converter/model/matrix.hpp"
#include "converter/model/model_config.hpp"

namespace embert::convert {

/// The input of one layer's attention heads. Texts stand one after the other; in self-attention the
/// keys of a text are its own rows. Every length is at most kMaxPositions.
struct AttentionInput {
  const float* query = nullptr;                              ///< [query rows, heads * head_size]
  const float* key = nullptr;                                ///< [key rows, heads * head_size]
  const float* value = nullptr;                              ///< [key rows, heads * head_size]
  std::span<const std::int32_t> query_lengths, key_lengths;  ///< [texts]
  std::size_t heads = 0;
  std::size_t head_size = 0;  ///< at most kMaxHeadSize

  PositionKind position_kind = PositionKind::kAbsolute;
  /// AttentionWeights::distance_embedding; null with kAbsolute
  const Matrix* relative_positions = nullptr;
  const Matrix* score_bias = nullptr;  ///< StackWeights::score_bias, or null
  std::size_t reach = SIZE_MAX;        ///< a query attends to the keys at most so many rows away
  bool causal = false;                 ///< a query attends to the keys up to its own row only
  // Null where absent:
  const std::uint8_t* key_mask = nullptr;        ///< [key rows], 0: hidden
  const std::uint8_t* query_key_mask = nullptr;  ///< of each text [queries, keys], 0: hidden
  const float* head_mask = nullptr;              ///< [heads] factors
};

/// context [query rows, heads * head_size] = head_mask * softmax(scores / sqrt(head_size) +
/// score_bias) value. A hidden key's score is lowered by the largest float32, as in transformers: a
/// hidden key among others gets no weight, and where all keys are hidden all get the same.
/// `probabilities`, of each text [heads, queries, keys] and times head_mask, may be null.
void attend(pthreadpool_t pool, const AttentionInput& in, float* context, float* probabilities);

/// Queries or keys that rotary positions turn.
struct RotatedRows {
  const Matrix& angles;                   ///< rotary_angles()
  std::span<const std::int32_t> lengths;  ///< [texts]
  const std::int32_t* position_ids;       ///< [rows], or null: places in the text
  std::size_t heads;
};
/// In place. `values`: [rows, heads * head_size].
void rotate_rows(const RotatedRows& rows, float* values);

}  // namespace embert::convert
