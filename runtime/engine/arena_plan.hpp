// SPDX-License-Identifier: Apache-2.0
// Where everything lies in the arena: a formula of model and options, the same on every machine.
//
//   engine | caches of decoders | residual | shared: context, or the feed-forward blocks |
//   scratch of task 0 | scratch of task 1 ...
//
// The residual stream and the context are the only buffers that grow with all tokens of a call.
// Everything else is worked off in blocks of rows: a head's queries, keys and values for one text,
// a tile of its scores, a block of feed-forward rows. The feed-forward blocks share memory with the
// context, which is dead by then. An encoder and its decoder share everything but the caches.
#pragma once

#include "runtime/model/model.hpp"

namespace embert {

static constexpr size_t kEngineBytes =
    1024;  ///< fixed, so that pointer sizes do not show in the arena's size
static constexpr size_t kBlockRows =
    32;  ///< rows of a tile: 4 passes of an 8-row GEMM over one weight panel
static constexpr size_t kGemmColumns = 96;  ///< columns of a tile's accumulators, at least
static constexpr size_t kWordBlock = 256;   ///< words of the vocabulary at a time
static constexpr size_t kChunkBytes = 64;   ///< of each text, when a cache is put in another order

/// A head's keys and values for up to some number of tokens, from the start of their place.
struct KeysPlan {
  uint64_t key;         ///< s8 n16k4 [N(tokens)] x [K(D)]
  uint64_t value;       ///< s8 n16k4 [2 N(D)] x [K(tokens)]
  uint64_t key_sums;    ///< s32 [N(tokens)]
  uint64_t value_sums;  ///< s32 [2 N(D)]
  uint64_t bytes;
};

/// Keys and values that stay from call to call: [layers][batch][heads] places, and for each text
/// how many tokens it has and which of them are hidden.
struct CachePlan {
  uint64_t lengths;  ///< u32 [batch]
  uint64_t mask;     ///< u8 [batch][tokens], 0 hides
  uint64_t places;   ///< [layers][batch][heads] of head.bytes
  uint32_t tokens;   ///< room for each text
  KeysPlan head;
};

/// Byte offsets from the arena's start; in scratch, from the task's scratch. All multiples of 64.
struct Plan {
  CachePlan cache;      ///< where the stack is causal
  CachePlan source;     ///< where it attends an encoder's states
  uint64_t residual;    ///< s16 [tokens][H]
  uint64_t normalized;  ///< s16 [tokens][H]: LayerNorm's output, the residual itself in post-norm
  uint64_t
      shared;  ///< s16 context [tokens][context_stride], or u16 [threads][ffn_rows][ffn_stride], or
               ///< s16 states of one source [max_source_tokens][cross_hidden_size]
  uint64_t scratch;  ///< [threads][scratch_bytes]
  uint64_t total;
  uint64_t scratch_bytes;

  // In scratch: a head's operands ...
  uint64_t query;  ///< u8 [max_tokens][K(D)]
  uint64_t keys;   ///< head's keys and values, where they are not cached
  KeysPlan keys_plan;
  uint64_t reciprocals;  ///< Reciprocal [kBlockRows]
  uint64_t row_max;      ///< s32 [kBlockRows]
  // ... and the tile: a GEMM's bytes and sums, or scores and context sums, or a head's row.
  uint64_t lhs;          ///< u8 [kBlockRows][lhs_stride]
  uint64_t acc;          ///< s32 [kBlockRows][acc_columns]
  uint64_t scores;       ///< s32 [kBlockRows][N(keys)], then u8 in the same rows
  uint64_t context_acc;  ///< s32 [kBlockRows][2 N(D)]
  uint64_t key_rows;     ///< u8 [kBlockRows][K(D)], with relative positions
  uint64_t products;     ///< s32 [kBlockRows][products_stride], with relative positions
  uint64_t row;          ///< s16 [H], [cross_hidden_size]: a head's row
  uint64_t chunks;       ///< u8 [batch][kChunkBytes], of decoders
  uint64_t sums;         ///< s32 [H] of pooling
  uint64_t words;        ///< s32 [2][kWordBlock], then logits in the first row

  uint32_t lhs_stride;       ///< bytes: the widest of K(H), K(cross_hidden_size)
  uint32_t acc_columns;      ///< max(kGemmColumns, 3 N(D))
  uint32_t context_stride;   ///< elements: heads * D, at least 4
  uint32_t products_stride;  ///< N(keys + kBlockRows + 15)
  uint32_t ffn_rows;         ///< rows of a feed-forward block
  uint32_t ffn_stride;       ///< elements: I, at least 4
};

Plan make_plan(const BlobHeader& model, size_t stack, const embert_options& options);
/// Of all stacks.
uint64_t arena_size(const BlobHeader& model, const embert_options& options);

}  // namespace embert
