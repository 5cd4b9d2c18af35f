// SPDX-License-Identifier: Apache-2.0
// Where everything lies in the arena: a formula of model and options, the same on every machine.
//
//   engine | residual | shared: context, or the feed-forward blocks | scratch of task 0 | scratch
//   of task 1 ...
//
// The residual stream and the context are the only buffers that grow with all tokens of a call.
// Everything else is worked off in blocks of rows: a head's queries, keys and values for one text,
// a tile of its scores, a block of feed-forward rows. The feed-forward blocks share memory with the
// context, which is dead by then.
#pragma once

#include "runtime/model.hpp"

namespace embert {

static constexpr size_t kEngineBytes =
    1024;  ///< fixed, so that pointer sizes do not show in the arena's size
static constexpr size_t kBlockRows =
    32;  ///< rows of a tile: 4 passes of an 8-row GEMM over one weight panel
static constexpr size_t kGemmColumns = 96;  ///< columns of a dense layer's accumulators at a time

/// Byte offsets from the arena's start; in scratch, from the task's scratch. All multiples of 64.
struct Plan {
  uint64_t residual;  ///< s16 [tokens][H]
  uint64_t
      shared;  ///< s16 context [tokens][context_stride], or u16 [threads][ffn_rows][ffn_stride]
  uint64_t scratch;  ///< [threads][scratch_bytes]
  uint64_t total;
  uint64_t scratch_bytes;

  // In scratch: a head's operands ...
  uint64_t query;        ///< u8 [max_tokens][K(D)]
  uint64_t key;          ///< s8 n16k4 [N(max_tokens)] x [K(D)]
  uint64_t value;        ///< s8 n16k4 [2 N(D)] x [K(max_tokens)]
  uint64_t key_sums;     ///< s32 [N(max_tokens)]
  uint64_t value_sums;   ///< s32 [2 N(D)]
  uint64_t reciprocals;  ///< Reciprocal [kBlockRows]
  uint64_t row_max;      ///< s32 [kBlockRows]
  // ... and the tile: a GEMM's bytes and sums, or scores and context sums, or a head's row.
  uint64_t lhs;          ///< u8 [kBlockRows][K(H)]
  uint64_t acc;          ///< s32 [kBlockRows][acc_columns]
  uint64_t scores;       ///< s32 [kBlockRows][N(max_tokens)], then u8 in the same rows
  uint64_t context_acc;  ///< s32 [kBlockRows][2 N(D)]
  uint64_t pooled;       ///< s16 [H]
  uint64_t sums;         ///< s32 [H] of pooling

  uint32_t acc_columns;     ///< max(kGemmColumns, 3 N(D))
  uint32_t context_stride;  ///< elements: heads * D, at least 4
  uint32_t ffn_rows;        ///< rows of a feed-forward block
  uint32_t ffn_stride;      ///< elements: I, at least 4
};

Plan make_plan(const BlobStack& model, const embert_options& options);

}  // namespace embert
