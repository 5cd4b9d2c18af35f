// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/attention/relative_positions.hpp"

#include "kernels/arithmetic/layout.hpp"
#include "runtime/engine/attention/head_projections.hpp"

namespace embert {

void add_relative_positions(const Run& run, const RelativePositions& relative, const HeadTask& at,
                            const ScoreBlock& block, const KvView& kv) {
  const Kernels& kernels = run.engine.kernels;
  const size_t inputs = pad_inputs(run.head_size()), stride = run.plan.products_stride, m = block.m;
  const size_t middle = run.stack.config->max_positions - 1, position = at.text.past + block.row;
  int32_t* products = run.scratch<int32_t>(at.task, run.plan.products);  // [block][products_stride]
  const auto signed_stride = static_cast<ptrdiff_t>(stride);
  // Multiplies rows with the columns of keys key .. key + count - 1 for all queries of the block.
  // Returns the product of the first row for the first query and the first key.
  const auto multiply = [&](const uint8_t* lhs, size_t rows, size_t key, size_t count) {
    const size_t first = middle + key - (position + m - 1);  // of the last query
    const size_t panel = first / kPanelColumns * kPanelColumns;
    kernels.gemm({.m = rows,
                  .n = pad_columns(first - panel + count + m - 1),
                  .k = inputs,
                  .lhs = lhs,
                  .lhs_stride = inputs,
                  .lhs_type = LhsType::kSigned,
                  .rhs = relative.table + panel * inputs,
                  .bias = nullptr,
                  .sums = relative.sums + panel,
                  .dst = products,
                  .dst_stride = stride});
    return products + (first - panel + m - 1);
  };
  // A query's row holds its products with the columns of all keys. All queries share a bias.
  const bool biased = relative.bias != nullptr;
  const int32_t* query_products =
      biased ? relative.bias + at.head * (2 * middle + 1) + middle - position
             : multiply(block.query, m, 0, kv.count);
  kernels.add_relative_positions({.m = m,
                                  .n = kv.count,
                                  .products = query_products,
                                  .row_step = biased ? -1 : signed_stride - 1,
                                  .col_step = 1,
                                  .multiplier = relative.query.multiplier[at.head],
                                  .left = relative.query.left,
                                  .right = relative.query.right,
                                  .scores = block.scores,
                                  .scores_stride = block.stride});
  if (relative.key.multiplier == nullptr) return;
  // A key's row holds its products with the columns of all queries of the block.
  uint8_t* key_rows = run.scratch<uint8_t>(at.task, run.plan.key_rows);  // [block][K(D)]
  for (size_t key = 0; key < kv.count; key += kBlockRows) {
    const size_t count = smaller(kBlockRows, kv.count - key);
    for (size_t i = 0; i < count; ++i) {
      for (size_t c = 0; c < inputs; ++c) {
        key_rows[i * inputs + c] =
            static_cast<uint8_t>(kv.keys[n16k4_index(key + i, c, inputs)]) ^ kSignedLhsFlip;
      }
    }
    const int32_t* key_products = multiply(key_rows, count, key, count);
    kernels.add_relative_positions({.m = m,
                                    .n = count,
                                    .products = key_products,
                                    .row_step = -1,
                                    .col_step = signed_stride + 1,
                                    .multiplier = relative.key.multiplier[at.head],
                                    .left = relative.key.left,
                                    .right = relative.key.right,
                                    .scores = block.scores + key,
                                    .scores_stride = block.stride});
  }
}

}  // namespace embert
