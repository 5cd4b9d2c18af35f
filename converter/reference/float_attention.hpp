// SPDX-License-Identifier: Apache-2.0
// Attention of the float reference: scores, masks, softmax and the mixing of values, text by text
// and head by head.
#pragma once

#include <pthreadpool.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"

namespace embert::convert {

/// What the heads of one layer read. Texts stand one after the other; in self-attention the keys of
/// a text are its own rows. Every length is at most kMaxPositions.
struct AttentionInput {
  const float* query = nullptr;  ///< [query rows, heads * head_size]
  const float* key = nullptr;    ///< [key rows, heads * head_size]
  const float* value = nullptr;  ///< the same
  std::span<const std::int32_t> query_lengths, key_lengths;
  std::size_t heads = 0;
  std::size_t head_size = 0;  ///< at most kMaxHeadSize

  PositionKind position_kind = PositionKind::kAbsolute;
  const Matrix* distances = nullptr;  ///< AttentionWeights::distance_embedding; null with kTable
  bool causal = false;                ///< a query has the keys up to its own row only
  // Null where absent:
  const std::uint8_t* key_mask = nullptr;        ///< [key rows], 0: hidden
  const std::uint8_t* query_key_mask = nullptr;  ///< of each text [queries, keys], 0: hidden
  const float* head_mask = nullptr;              ///< [heads] factors
};

/// context [query rows, heads * head_size] = head_mask * softmax(scores / sqrt(head_size)) value.
/// A hidden key's score is lowered by the largest float32, as in transformers: alone it gets
/// nothing, and where all keys are hidden all get the same. `probabilities`, of each text [heads,
/// queries, keys] and times head_mask, may be null.
void attend(pthreadpool_t pool, const AttentionInput& in, float* context, float* probabilities);

}  // namespace embert::convert
