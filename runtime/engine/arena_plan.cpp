// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/arena_plan.hpp"

#include "kernels/arithmetic/layout.hpp"

namespace embert {
namespace {

/// Hands out 64-byte aligned ranges one after another. 64-bit, so that a size that does not fit the
/// machine is still computed right and refused.
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

KeysPlan plan_keys(uint64_t head_size, uint64_t tokens) {
  Cursor place = {0};
  KeysPlan plan = {};
  plan.key = place.take(pad_columns(tokens) * pad_inputs(head_size));
  plan.value = place.take(2 * pad_columns(head_size) * pad_inputs(tokens));
  plan.key_sums = place.take(4 * pad_columns(tokens));
  plan.value_sums = place.take(4 * 2 * pad_columns(head_size));
  plan.bytes = place.at;
  return plan;
}

CachePlan plan_cache(Cursor& arena, const BlobStack& stack, uint64_t batch, uint32_t tokens) {
  CachePlan plan = {};
  plan.tokens = tokens;
  plan.head = plan_keys(stack.head_size, tokens);
  plan.lengths = arena.take(batch * 4);
  plan.mask = arena.take(batch * tokens);
  plan.places = arena.take(stack.num_layers * batch * stack.num_heads * plan.head.bytes);
  return plan;
}

}  // namespace

Plan make_plan(const BlobHeader& model, size_t stack, const embert_options& options) {
  const BlobStack& config = model.stacks[stack];
  const BlobStack& last = model.stacks[model.num_stacks - 1];
  const bool causal = (config.flags & kStackCausal) != 0;
  const bool cross = (config.flags & kStackCrossAttention) != 0;
  const bool pre_norm = (config.flags & kStackPreNorm) != 0;
  const bool relative = config.position_kind != kPositionTable;
  const uint64_t hidden = config.hidden_size, inputs = pad_inputs(config.head_size),
                 head_columns = pad_columns(config.head_size), batch = options.max_batch;
  // The encoder of a pair runs over sources.
  const bool is_source = stack + 1 < model.num_stacks;
  const uint64_t length = is_source ? options.max_source_tokens : options.max_tokens;
  const uint64_t tokens = length * batch, block = kBlockRows;
  const uint64_t keys = cross ? largest(length, options.max_source_tokens) : length;

  Plan plan = {};
  Cursor arena = {kEngineBytes};
  if ((last.flags & kStackCausal) != 0) {
    plan.cache = plan_cache(arena, last, batch, options.max_tokens);
  }
  if ((last.flags & kStackCrossAttention) != 0) {
    plan.source = plan_cache(arena, last, batch, options.max_source_tokens);
  }

  const uint64_t width = uint64_t{config.num_heads} * config.head_size;
  // The states of an encoder are read in two planes, by the stack that has them at hand.
  const uint64_t states = last.cross_hidden_size;
  plan.lhs_stride = static_cast<uint32_t>(pad_inputs(largest(hidden, states)));
  plan.acc_columns = static_cast<uint32_t>(
      largest(kGemmColumns, 3 * largest(head_columns, pad_columns(last.head_size))));
  // Rows are quantised in place, padded to 4 bytes: a row of one 2-byte value would be too short
  // for that.
  plan.context_stride = static_cast<uint32_t>(largest(width, 4));
  plan.ffn_stride = static_cast<uint32_t>(largest(config.intermediate_size, 4));
  plan.products_stride = static_cast<uint32_t>(pad_columns(keys + block + kPanelColumns - 1));
  const uint64_t context_bytes = tokens * plan.context_stride * 2;
  const uint64_t ffn_row_bytes = uint64_t{options.threads} * plan.ffn_stride * 2;
  // Large blocks read the weights less often, but are worth no memory of their own. In eights, so
  // that GEMM tiles stay full.
  const uint64_t room = context_bytes / ffn_row_bytes / 8 * 8;
  const uint64_t ffn_rows = smallest(largest(room, block / 2), block);
  plan.ffn_rows = static_cast<uint32_t>(smallest(ffn_rows, tokens));

  Cursor scratch = {0};
  plan.query = scratch.take(length * inputs);
  if (!causal) {
    plan.keys_plan = plan_keys(config.head_size, length);
    plan.keys = scratch.take(plan.keys_plan.bytes);
  }
  plan.reciprocals = scratch.take(block * sizeof(Reciprocal));
  plan.row_max = scratch.take(block * 4);
  Cursor dense = scratch, attention = scratch, head = scratch;
  plan.lhs = dense.take(block * plan.lhs_stride);
  plan.acc = dense.take(block * plan.acc_columns * 4);
  plan.scores = attention.take(block * pad_columns(keys) * 4);
  plan.context_acc = attention.take(block * 2 * head_columns * 4);
  if (relative) {
    plan.key_rows = attention.take(block * inputs);
    plan.products = attention.take(block * plan.products_stride * 4);
  }
  head.at = dense.at;  // a head's row is made while lhs and acc are in use
  plan.row = head.take(largest(hidden, states) * 2);
  plan.chunks = head.take(causal ? batch * kChunkBytes : 0);
  plan.words = head.take((model.task_heads & kHeadLm) != 0 ? uint64_t{2} * kWordBlock * 4 : 0);
  plan.sums = scratch.take(hidden * 4);
  plan.scratch_bytes = largest(largest(scratch.at, attention.at), head.at);

  plan.residual = arena.take(tokens * hidden * 2);
  plan.normalized = pre_norm ? arena.take(tokens * hidden * 2) : plan.residual;
  const bool makes_states = cross || (is_source && (model.task_heads & kHeadProjection) != 0);
  const uint64_t states_bytes = makes_states ? options.max_source_tokens * states * 2 : 0;
  plan.shared =
      arena.take(largest(largest(context_bytes, plan.ffn_rows * ffn_row_bytes), states_bytes));
  plan.scratch = arena.take(options.threads * plan.scratch_bytes);
  plan.total = arena.at;
  return plan;
}

uint64_t arena_size(const BlobHeader& model, const embert_options& options) {
  uint64_t most = 0;
  for (size_t i = 0; i < model.num_stacks; ++i) {
    most = largest(most, make_plan(model, i, options).total);
  }
  return most;
}

}  // namespace embert
