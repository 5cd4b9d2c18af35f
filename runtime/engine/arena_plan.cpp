// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/arena_plan.hpp"

#include "kernels/arithmetic/layout.hpp"

namespace embert {
namespace {

/// Hands out 64-byte aligned ranges one after another. It counts in 64 bits, so that a size which
/// the machine can not address is still computed right, and then refused.
struct Cursor {
  uint64_t at;

  uint64_t take(uint64_t bytes) {
    const uint64_t start = at;
    at += (bytes + 63) / 64 * 64;
    return start;
  }
};

uint64_t largest(uint64_t a, uint64_t b) { return a > b ? a : b; }
uint64_t smallest(uint64_t a, uint64_t b) { return a < b ? a : b; }

/// `key_inputs`: of a key's column.
KvSlotPlan plan_slot(uint64_t head_size, uint64_t key_inputs, uint64_t capacity) {
  Cursor slot = {0};
  KvSlotPlan plan = {};
  slot.take(pad_columns(capacity) * key_inputs);  // plan.keys
  plan.values = slot.take(2 * pad_columns(head_size) * pad_inputs(capacity));
  plan.key_sums = slot.take(4 * pad_columns(capacity));
  plan.value_sums = slot.take(size_t{4} * 2 * pad_columns(head_size));
  plan.bytes = slot.at;
  return plan;
}

KvCachePlan plan_cache(Cursor& arena, const BlobStack& config, uint64_t batch, uint32_t capacity) {
  KvCachePlan plan = {};
  plan.capacity = capacity;
  plan.slot = plan_slot(config.head_size, pad_inputs(config.head_size), capacity);
  plan.lengths = arena.take(batch * 4);
  plan.mask = arena.take(batch * capacity);
  plan.slots = arena.take(config.num_layers * batch * config.num_heads * plan.slot.bytes);
  return plan;
}

/// The largest row of pooling and the dense layers behind it; 0 where BlobVector is not needed.
uint64_t widest_of_vector(const Model& model, uint64_t hidden) {
  const BlobVector* vector = model_vector(model);
  if (vector == nullptr) return 0;
  uint64_t widest = vector->num_poolings * hidden;
  for (uint32_t i = 0; i < vector->num_dense; ++i) {
    widest = largest(widest, vector->dense[i].outputs);
  }
  return widest;
}

/// Of a layer's ffn_up.
uint64_t most_copied_inputs(const Stack& stack) {
  uint64_t most = 0;
  for (uint32_t l = 0; stack.planes != nullptr && l < stack.config->num_layers; ++l) {
    most = largest(most, stack.planes[l].copied_inputs);
  }
  return most;
}

bool has_score_planes(const Stack& stack) {
  for (uint32_t l = 0; stack.planes != nullptr && l < stack.config->num_layers; ++l) {
    if (stack.planes[l].probabilities == kPlanesScores) return true;
  }
  return false;
}

/// The buffers of static embeddings: one row and its sum, whatever the number of tokens.
StackPlan plan_static(Cursor arena, const Model& opened, const embert_options& options) {
  const uint64_t hidden = opened.header->stacks[0].hidden_size;
  const uint64_t widest = largest(hidden, widest_of_vector(opened, hidden));
  const BlobVector* vector = model_vector(opened);
  const bool has_dense = vector != nullptr && vector->num_dense > 0;
  StackPlan plan = {};
  plan.lhs_stride = static_cast<uint32_t>(pad_inputs(widest));
  plan.acc_columns = kGemmColumns;
  Cursor scratch = {0};
  plan.pool_sums = scratch.take(widest * 4);
  plan.row = scratch.take(widest * 2);
  plan.lhs = scratch.take(has_dense ? uint64_t{2} * plan.lhs_stride : 0);
  plan.acc = scratch.take(has_dense ? uint64_t{2} * plan.acc_columns * 4 : 0);
  plan.scratch_bytes = scratch.at;
  plan.shared = arena.take(uint64_t{options.max_tokens} * 2 * sizeof(int32_t));
  plan.scratch = arena.take(plan.scratch_bytes);
  plan.normalized = arena.take(widest * 2);
  plan.residual = plan.normalized;
  plan.total = arena.at;
  return plan;
}

/// The buffers of a run through a stack; `arena` stands behind the caches. cold: it runs once, so
/// that small code counts.
[[gnu::cold]] StackPlan plan_stack(Cursor arena, const Model& model, size_t index,
                                   const embert_options& options) {
  const BlobHeader& header = *model.header;
  const Stack stack = model_stack(model, index);
  const BlobStack& config = *stack.config;
  const BlobStack& last = header.stacks[header.num_stacks - 1];
  if (has(config.flags, kStackStatic)) return plan_static(arena, model, options);
  const bool causal = (config.flags & kStackCausal) != 0;
  const bool cross = (config.flags & kStackCrossAttention) != 0;
  const bool pre_norm = (config.flags & kStackPreNorm) != 0;
  const bool relative = config.position_kind != kPositionTable;
  const uint64_t hidden = config.hidden_size, inputs = pad_inputs(config.head_size),
                 head_columns = pad_columns(config.head_size), batch = options.max_batch;
  // The encoder of a pair runs over sources.
  const bool is_source = index + 1 < header.num_stacks;
  const uint64_t length = is_source ? options.max_source_tokens : options.max_tokens;
  const uint64_t tokens = length * batch, block = kBlockRows;
  const uint64_t keys = cross ? largest(length, options.max_source_tokens) : length;

  StackPlan plan = {};
  const uint64_t width = uint64_t{config.num_heads} * config.head_size;
  // An encoder's states are projected to keys and values of the last stack while its own plan is in
  // use.
  const uint64_t states = last.cross_hidden_size;
  const uint64_t vector = is_source ? 0 : widest_of_vector(model, hidden);
  const uint64_t words = stack.word_projection.words * stack.word_size;
  const uint64_t widest =
      largest(largest(hidden, largest(stack.embedding_size, words)), largest(states, vector));
  plan.lhs_stride =
      static_cast<uint32_t>(pad_inputs(largest(widest, hidden + most_copied_inputs(stack))));
  plan.acc_columns = static_cast<uint32_t>(
      largest(kGemmColumns, 3 * largest(head_columns, pad_columns(last.head_size))));
  // Rows are quantised in place and padded to 4 bytes, for which a row of one 2-byte value would be
  // too short. With 8 bytes a row, the context also has room for a token's id and segment.
  // Two planes of a row lie in its place, each padded to 4 bytes.
  const bool has_planes = stack.planes != nullptr;
  const uint64_t context_values = has_planes ? pad_inputs(width) : width;
  const uint64_t ffn_values =
      has_planes ? pad_inputs(config.intermediate_size) : config.intermediate_size;
  plan.context_stride = static_cast<uint32_t>(largest(context_values, 4));
  plan.ffn_stride = static_cast<uint32_t>(largest(ffn_values, 4));
  plan.products_stride = static_cast<uint32_t>(pad_columns(keys + block + kPanelColumns - 1));
  const uint64_t context_bytes = tokens * plan.context_stride * 2;
  const uint64_t ffn_row_bytes = uint64_t{options.threads} * plan.ffn_stride * 2;

  Cursor scratch = {0};
  const uint64_t score_planes = has_score_planes(stack) ? 2 : 1;
  scratch.take(score_planes * length * score_planes * inputs);  // plan.query
  if (!causal) {
    plan.kv_slot = plan_slot(config.head_size, score_planes * inputs, length);
    plan.kv = scratch.take(plan.kv_slot.bytes);
  }
  static_assert(kLastBlockRows * 4 <= kBlockRows * (sizeof(Reciprocal) + 4));
  plan.reciprocals = plan.row_max = scratch.take(block * (sizeof(Reciprocal) + 4));
  Cursor attention = scratch, pooling = scratch;
  plan.pool_sums = pooling.take(largest(hidden, vector) * 4);
  // A row is copied here before its planes take its place.
  const uint64_t copied_row =
      has_planes ? 2 * largest(plan.context_stride, plan.ffn_stride) : uint64_t{0};
  const uint64_t head_rows =
      (header.task_heads & kHeadTokenTransform) != 0 ? block / 2 * hidden : 0;
  const uint64_t embeddings = block / 2 * (stack.has_projection() ? stack.embedding_size : words);
  // Returns where the buffers of dense layers end.
  const auto plan_dense = [&](uint64_t rows) {
    Cursor dense = scratch;
    plan.dense_rows = static_cast<uint32_t>(rows);
    plan.lhs = dense.take(largest(rows * plan.lhs_stride, copied_row));
    // Two more rows have the planes of a text's first token.
    plan.acc = dense.take((rows + (has_planes ? 2 : 0)) * plan.acc_columns * 4);
    plan.row = dense.take(largest(widest, largest(head_rows, embeddings)) * 2);
    plan.chunks = dense.take(causal ? batch * kChunkBytes : 0);
    plan.vocab_sums =
        dense.take((header.task_heads & kHeadLm) != 0 ? uint64_t{2} * kVocabBlock * 4 : 0);
    return dense.at;
  };
  plan.scores = attention.take(block * pad_columns(keys) * 4);
  plan.context_acc = attention.take(block * 2 * head_columns * 4);
  if (relative) {
    plan.key_rows = attention.take(block * inputs);
    plan.products = attention.take(block * plan.products_stride * 4);
  } else if (has(config.flags, kStackLocalAttention)) {
    plan.products = attention.take(2 * head_columns * 4);
  }
  plan.scratch_bytes = largest(largest(pooling.at, attention.at), plan_dense(block));
  // A larger block reads the weights less often. It uses the room that scores and context need
  // anyway, and no more: in a feed-forward network whole GEMM tiles of 8 rows, 16 rows or more.
  if (plan_dense(kLastBlockRows) > plan.scratch_bytes) plan_dense(block);
  const uint64_t room = largest(context_bytes / ffn_row_bytes / 8 * 8, block / 2);
  plan.ffn_rows = static_cast<uint32_t>(smallest(smallest(room, plan.dense_rows), tokens));

  plan.residual = arena.take(tokens * hidden * 2);
  plan.normalized = pre_norm ? arena.take(tokens * hidden * 2) : plan.residual;
  if (stack.has_bottleneck() && stack.bottleneck->kind != kBottleneckNone) {
    const uint64_t streams = stack.bottleneck->kind == kBottleneckShared ? 2 : 1;
    arena.take(streams * stream_bytes(options, stack.intra_size()));
  }
  const bool makes_states = cross || (is_source && (header.task_heads & kHeadProjection) != 0);
  const uint64_t states_bytes = makes_states ? options.max_source_tokens * states * 2 : 0;
  plan.shared =
      arena.take(largest(largest(context_bytes, plan.ffn_rows * ffn_row_bytes), states_bytes));
  plan.scratch = arena.take(options.threads * plan.scratch_bytes);
  plan.total = arena.at;
  return plan;
}

}  // namespace

[[gnu::cold]] ArenaPlan plan_arena(const Model& model, const embert_options& options) {
  const BlobHeader& header = *model.header;
  const BlobStack& last = header.stacks[header.num_stacks - 1];
  ArenaPlan plan = {};
  Cursor arena = {kEngineBytes};
  if ((last.flags & kStackCausal) != 0) {
    plan.self = plan_cache(arena, last, options.max_batch, options.max_tokens);
  }
  if ((last.flags & kStackCrossAttention) != 0) {
    plan.source = plan_cache(arena, last, options.max_batch, options.max_source_tokens);
  }
  for (size_t i = 0; i < header.num_stacks; ++i) {
    plan.stacks[i] = plan_stack(arena, model, i, options);
  }
  return plan;
}

}  // namespace embert
