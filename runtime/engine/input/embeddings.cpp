// SPDX-License-Identifier: Apache-2.0
// Embeddings (Devlin et al. 2018, figure 2). Those of another width (Lan et al. 2020, section 3.1)
// are summed up in scratch, a block of rows at a time; LayerNorm and a dense layer on 16-bit rows
// make the residual of them.
#include "runtime/engine/input/embeddings.hpp"

#include "runtime/engine/heads/task_heads.hpp"
#include "runtime/model/scale.hpp"

namespace embert {
namespace {

/// dst = word + position + segment: s16 [rows][E].
void sum_embeddings(const Run& run, RowRange rows, int16_t* dst) {
  const Stack& stack = run.stack;
  const Kernels& kernels = run.engine.kernels;
  const embert_input& input = run.input;
  const size_t size = stack.embedding_size;
  const int32_t vector_multiplier =
      input.embeddings != nullptr
          ? scale_ratio_q16(input.embeddings_scale.float_bits, stack.config->embedding_scale)
          : 0;

  const bool counts =
      stack.padding_id != UINT32_MAX && input.ids != nullptr && input.position_ids == nullptr;
  size_t counted = 0, paddings = 0;  // tokens of the text that were looked at; padding ids of them
  TextRows text = first_text(run, Queries::kAll);
  for (size_t row = rows.begin; row < rows.end; ++row, dst += size) {
    while (row - text.begin >= text.length) {
      text = next_text(run, Queries::kAll, text);
      counted = text.begin;
      paddings = 0;
    }
    for (; counts && counted < row; ++counted) {
      paddings += static_cast<uint32_t>(input.ids[counted]) == stack.padding_id;
    }
    const size_t type = input.type_ids != nullptr ? static_cast<size_t>(input.type_ids[row]) : 0;
    const bool is_padding = counts && static_cast<uint32_t>(input.ids[row]) == stack.padding_id;
    const size_t position = input.position_ids != nullptr
                                ? static_cast<size_t>(input.position_ids[row])
                            : is_padding ? stack.config->max_positions
                                         : text.past + row - text.begin - paddings;
    const int16_t* position_row = stack.positions + position * stack.position_stride;
    const int16_t* segment_row = type > 0 ? stack.segments + type * size : nullptr;
    if (input.embeddings != nullptr) {
      kernels.embedding_vector({.n = size,
                                .src = input.embeddings + row * size,
                                .multiplier = vector_multiplier,
                                .position = position_row,
                                .segment = segment_row,
                                .dst = dst});
    } else {
      embed_token(kernels, stack,
                  {.id = static_cast<size_t>(input.ids[row]),
                   .position = position_row,
                   .segment = segment_row,
                   .dst = dst});
    }
  }
}

/// dst = projection of the embeddings: s16 [rows][H].
void project_embeddings(const Run& run, size_t task, RowRange rows, int16_t* dst) {
  const EmbeddingProjection& projection = run.stack.projection;
  const size_t hidden = run.hidden_size(), size = run.stack.embedding_size;
  int16_t* sums = run.scratch<int16_t>(task, run.plan.row);  // [m][E]
  for (size_t row = rows.begin; row < rows.end; row += kBlockRows / 2) {
    const size_t m = smaller(kBlockRows / 2, rows.end - row);
    sum_embeddings(run, {row, row + m}, sums);
    run.engine.kernels.layernorm({.m = m,
                                  .n = size,
                                  .src = sums,
                                  .dst = sums,
                                  .stride = size,
                                  .epsilon_n2 = projection.norm.epsilon_n2,
                                  .gain = projection.norm.gain,
                                  .bias = projection.norm.bias,
                                  .shift = projection.norm.shift});
    dense16_rows(run, projection.dense, {sums, m, size, task}, hidden,
                 [&](size_t i, size_t c, int32_t y) {
                   dst[i * hidden + c] = static_cast<int16_t>(sat16(y));
                 });
    dst += m * hidden;
  }
}

}  // namespace

void embed_token(const Kernels& kernels, const Stack& stack, const TokenEmbedding& token) {
  const size_t size = stack.embedding_size;
  if (stack.embeddings_4bit.rows != nullptr) {
    return kernels.embedding_4bit(
        {.n = size,
         .levels = stack.embeddings_4bit.levels,
         .row = stack.embeddings_4bit.rows + token.id * word_row_bytes(size),
         .multiplier = stack.word_multipliers[token.id],
         .position = token.position,
         .segment = token.segment,
         .dst = token.dst});
  }
  kernels.embedding({.n = size,
                     .word = stack.word_embeddings + token.id * size,
                     .multiplier = stack.word_multipliers[token.id],
                     .position = token.position,
                     .segment = token.segment,
                     .dst = token.dst});
}

void embed_rows(const Run& run, size_t task, RowRange rows) {
  int16_t* dst = run.at<int16_t>(run.plan.residual) + rows.begin * run.hidden_size();  // [rows][H]
  if (run.stack.has_projection()) {
    project_embeddings(run, task, rows, dst);
  } else {
    sum_embeddings(run, rows, dst);
  }
}

}  // namespace embert
