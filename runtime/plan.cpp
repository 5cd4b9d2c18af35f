// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan.hpp"

#include "kernels/layout.hpp"

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

}  // namespace

Plan make_plan(const BlobStack& model, const embert_options& options) {
  const uint64_t hidden = model.hidden_size, head_columns = pad_columns(model.head_size);
  const uint64_t tokens = uint64_t{options.max_tokens} * options.max_batch;
  const uint64_t length = options.max_tokens, block = kBlockRows;
  const uint64_t context_columns = uint64_t{model.num_heads} * model.head_size;

  Plan plan = {};
  plan.acc_columns = static_cast<uint32_t>(largest(kGemmColumns, 3 * head_columns));
  // Rows are quantised in place, padded to 4 bytes: a row of one 2-byte value would be too short
  // for that.
  plan.context_stride = static_cast<uint32_t>(largest(context_columns, 4));
  plan.ffn_stride = static_cast<uint32_t>(largest(model.intermediate_size, 4));
  const uint64_t context_bytes = tokens * plan.context_stride * 2;
  const uint64_t ffn_row_bytes = uint64_t{options.threads} * plan.ffn_stride * 2;
  // Large blocks read the weights less often, but are worth no memory of their own.
  const uint64_t ffn_rows = block * ffn_row_bytes <= context_bytes ? block : block / 2;
  plan.ffn_rows = static_cast<uint32_t>(ffn_rows < tokens ? ffn_rows : tokens);

  Cursor scratch = {0};
  plan.query = scratch.take(length * pad_inputs(model.head_size));
  plan.key = scratch.take(pad_columns(length) * pad_inputs(model.head_size));
  plan.value = scratch.take(2 * head_columns * pad_inputs(length));
  plan.key_sums = scratch.take(4 * pad_columns(length));
  plan.value_sums = scratch.take(4 * 2 * head_columns);
  plan.reciprocals = scratch.take(block * sizeof(Reciprocal));
  plan.row_max = scratch.take(block * 4);
  Cursor dense = scratch, attention = scratch, head = scratch;
  plan.lhs = dense.take(block * pad_inputs(hidden));
  plan.acc = dense.take(block * plan.acc_columns * 4);
  plan.scores = attention.take(block * pad_columns(length) * 4);
  plan.context_acc = attention.take(block * 2 * head_columns * 4);
  head.at = dense.at;  // a head's row is made while lhs and acc are in use
  plan.pooled = head.take(hidden * 2);
  plan.sums = scratch.take(hidden * 4);
  plan.scratch_bytes = largest(largest(scratch.at, attention.at), head.at);

  Cursor arena = {kEngineBytes};
  plan.residual = arena.take(tokens * hidden * 2);
  plan.shared = arena.take(largest(context_bytes, plan.ffn_rows * ffn_row_bytes));
  plan.scratch = arena.take(options.threads * plan.scratch_bytes);
  plan.total = arena.at;
  return plan;
}

}  // namespace embert
