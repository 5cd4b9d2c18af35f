// SPDX-License-Identifier: Apache-2.0
// The plan of the arena: where every buffer lies. Its size follows from the model and the options
// alone, so it is the same on every machine. The engine computes it once, when it is made.
//
//   engine | KV caches | residual | with bottlenecks: the rows inside a layer |
//   shared: context, or the feed-forward blocks | scratch of task 0 | scratch of task 1 ...
//
// Only the KV caches, the residual streams and the context grow with all tokens of a call.
// Everything else is computed in blocks of rows: the queries, keys and values of one head for one
// text, a tile of its scores, a block of feed-forward rows. The feed-forward blocks lie where the
// context was, which nobody reads any more. An encoder and its decoder run one after the other and
// use the same memory for everything but the caches.
#pragma once

#include "kernels/processor.hpp"
#include "runtime/model/model.hpp"

namespace embert {

/// Bytes that the engine takes in the arena. Fixed, so that the arena's size does not depend on the
/// size of a pointer.
static constexpr size_t kEngineBytes = 1024;
/// Rows of a tile: four passes of an 8-row GEMM over one panel of weights.
static constexpr size_t kBlockRows = 32;
/// Rows of the last block of attention's output or a feed-forward network, at most, where the arena
/// has room; of every block with two planes half of them. 33 to 40 rows read the weights from L2 or
/// L3 once. With AVX512-VNNI on an Intel Xeon (family 6, model 207) a pass of 33 tokens takes 5 to
/// 9 % less time than in blocks of 16 and 17. Longer blocks save nothing more, as their sums leave
/// L1: with 88 rows 128 tokens took 3 % longer. I8MM takes 32 rows in one step.
static constexpr size_t kLastBlockRows = EMBERT_X86 != 0 ? 40 : kBlockRows;
/// Queries of a tile with many keys, or with BlobPlanes::probabilities, whose exponentials have two
/// planes; with kPlanesScores, whose scores have two planes as well.
static constexpr size_t kBlockQueries2 = 16, kBlockQueries4 = 12;
/// Columns of a tile's accumulators, at least. Tiles of AVX512-VNNI have 48 columns, of AMX 32.
static constexpr size_t kGemmColumns = 96;
/// Tokens of the vocabulary whose logits are computed at a time.
static constexpr size_t kVocabBlock = 256;
/// Bytes of each text that are moved at a time when a KV cache is reordered.
static constexpr size_t kChunkBytes = 64;

/// The slot of one attention head: keys and values of up to `capacity` tokens. Byte offsets from
/// the start of the slot.
struct KvSlotPlan {
  static constexpr uint64_t keys =
      0;                ///< s8 n16k4 [N(capacity)] x [K(D)], of kPlanesScores x [2 K(D)]
  uint64_t values;      ///< s8 n16k4 [2 N(D)] x [K(capacity)]
  uint64_t key_sums;    ///< s32 [N(capacity)]
  uint64_t value_sums;  ///< s32 [2 N(D)]
  uint64_t bytes;
};

/// A KV cache: keys and values that stay from call to call. Byte offsets from the start of the
/// arena.
struct KvCachePlan {
  uint64_t lengths;   ///< u32 [batch]: tokens that each text has
  uint64_t mask;      ///< u8 [batch][capacity], 0 hides a token
  uint64_t slots;     ///< [layers][batch][heads] of slot.bytes
  uint32_t capacity;  ///< tokens that each text has room for
  KvSlotPlan slot;
};

/// The buffers of a run through one stack. Offsets are in bytes and multiples of 64.
struct StackPlan {
  // From the start of the arena.
  uint64_t residual;    ///< s16 [tokens][H]
  uint64_t normalized;  ///< s16 [vector_size] in static embeddings, of the self-test; else
                        ///< s16 [tokens][H]: LayerNorm's output; in post-norm the residual itself
  uint64_t shared;      ///< s16 context [tokens][context_stride], or
                        ///< u16 activations [threads][ffn_rows][ffn_stride], or
                        ///< s16 states of one source [max_source_tokens][cross_hidden_size], or
                        ///< before a run s32 ids [max_tokens] and segments [max_tokens] of a text
  uint64_t scratch;     ///< [threads][scratch_bytes]
  uint64_t total;       ///< bytes of the arena that this stack needs
  uint64_t scratch_bytes;

  // From the start of a task's scratch. First the operands of an attention head ...
  static constexpr uint64_t query =
      0;                 ///< u8 [max_tokens][K(D)], of kPlanesScores [2 max_tokens][2 K(D)]
  uint64_t kv;           ///< a slot, in encoders: decoders keep theirs in the KV cache
  KvSlotPlan kv_slot;    ///< of kv
  uint64_t reciprocals;  ///< Reciprocal [kBlockRows] of the softmax
  uint64_t row_max;      ///< s32 [dense_rows] of a dense layer, in the same memory
  // ... then, in the same memory, a GEMM's bytes and sums ...
  uint64_t lhs;  ///< u8 [dense_rows][lhs_stride], or s16 [context_stride] or [ffn_stride]
  uint64_t acc;  ///< s32 [dense_rows][acc_columns]; with BlobPlanes two rows more
  // ... or scores and context sums ...
  uint64_t scores;  ///< s32 [kBlockRows][N(keys)], then u8 exponentials in the same rows; with
                    ///< BlobPlanes::probabilities s32 [kBlockQueries2][N(keys)] or, of
                    ///< kPlanesScores, [2 kBlockQueries4][N(keys)], and behind them u8 [2 queries
                    ///< of the block][N(keys)]: two planes of each row
  uint64_t context_acc;  ///< s32 [kBlockRows][2 N(D)]
  uint64_t key_rows;     ///< u8 [kBlockRows][K(D)], with relative positions
  uint64_t products;     ///< s32 [kBlockRows][products_stride], with relative positions; then, with
                         ///< local attention, s32 [2 N(D)] sums of the values that a block reads
  // ... and behind lhs and acc, which are in use at the same time, the rows of a task head.
  uint64_t row;         ///< s16 [max(H, E, cross_hidden_size, rows of the vector)], or
                        ///< s16 [kBlockRows / 2][H] of a token classifier's transform, or
                        ///< s16 [kBlockRows / 2][E] before an embedding projection, or
                        ///< s16 [kBlockRows / 2][words][W] before a word projection
  uint64_t chunks;      ///< u8 [batch][kChunkBytes], of decoders
  uint64_t vocab_sums;  ///< s32 [2][kVocabBlock]; logits in the first row afterwards
  uint64_t pool_sums;   ///< s32 [poolings][H]; in the memory of lhs or scores

  uint32_t lhs_stride;       ///< bytes: K(max(H + BlobPlanes::copied_inputs, E, words * W,
                             ///< cross_hidden_size, rows of the vector))
  uint32_t acc_columns;      ///< max(kGemmColumns, 3 N(D))
  uint32_t context_stride;   ///< elements: heads * D, at least 4; with BlobPlanes a multiple of 4
  uint32_t products_stride;  ///< elements: N(keys + kBlockRows + 15)
  uint32_t dense_rows;       ///< kLastBlockRows where the scores leave room, else kBlockRows
  uint32_t ffn_rows;         ///< of a feed-forward block: dense_rows, or what fits the context
  uint32_t ffn_stride;       ///< elements: I, as context_stride
};

/// The arena of an engine. The caches belong to the last stack.
struct ArenaPlan {
  KvCachePlan self;    ///< of a decoder's own tokens; all zero in encoders
  KvCachePlan source;  ///< of the encoder states that cross-attention reads; all zero without it
  StackPlan stacks[kMaxStacks];
  uint64_t total() const {
    return stacks[0].total > stacks[1].total ? stacks[0].total : stacks[1].total;
  }
};

/// Bytes that rows of so many values take for all tokens of a call. A stack with bottlenecks has
/// such rows of intra_size directly behind its residual: the sum inside a layer, then, with
/// kBottleneckShared, the input of queries and keys.
static inline uint64_t stream_bytes(const embert_options& options, size_t width) {
  return (uint64_t{options.max_tokens} * options.max_batch * width * 2 + 63) / 64 * 64;
}

ArenaPlan plan_arena(const Model& model, const embert_options& options);

}  // namespace embert
