// SPDX-License-Identifier: Apache-2.0
// Embeddings (Devlin et al. 2018, figure 2). Those of another width (Lan et al. 2020, section 3.1)
// are summed up in scratch, a block of rows at a time; LayerNorm and a dense layer on 16-bit rows
// make the residual of them. Words of another width (Sun et al. 2020, section 3.1) go through such
// a layer before positions and segments are added.
#include "runtime/engine/input/embeddings.hpp"

#include <string.h>

#include "runtime/engine/heads/task_heads.hpp"
#include "runtime/model/scale.hpp"

namespace embert {
namespace {

/// Vectors in place of rows of the word embeddings.
struct GivenVectors {
  const int16_t* first;  ///< [rows][size], the first row's; null: none are given
  int32_t multiplier;    ///< to the scale of the sum, Q16
};
/// Those of the caller for rows from `row` on.
GivenVectors given_embeddings(const Run& run, size_t row) {
  const embert_input& input = run.input;
  if (input.embeddings == nullptr) return {nullptr, 0};
  return {input.embeddings + row * run.stack.word_size,
          scale_ratio_q16(input.embeddings_scale.float_bits, run.stack.config->embedding_scale)};
}

/// dst = word + position + segment: s16 [rows][E].
void sum_embeddings(const Run& run, RowRange rows, GivenVectors given, int16_t* dst) {
  const Stack& stack = run.stack;
  const Kernels& kernels = run.engine.kernels;
  const embert_input& input = run.input;
  const size_t size = stack.embedding_size;
  const bool counts = built(kStackPaddingPosition) && stack.padding_id != UINT32_MAX &&
                      input.ids != nullptr && input.position_ids == nullptr;
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
    if (given.first != nullptr) {
      kernels.embedding_vector({.n = size,
                                .src = given.first + (row - rows.begin) * size,
                                .multiplier = given.multiplier,
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
void project_embeddings(const Run& run, const TaskRows& rows, int16_t* dst) {
  const EmbeddingProjection& projection = run.stack.projection;
  const size_t hidden = run.hidden_size(), size = run.stack.embedding_size;
  int16_t* sums = run.scratch<int16_t>(rows.task, run.plan.row);  // [m][E]
  for (size_t row = rows.begin; row < rows.end; row += kBlockRows / 2) {
    const size_t m = smaller(kBlockRows / 2, rows.end - row);
    sum_embeddings(run, {row, row + m}, given_embeddings(run, row), sums);
    run.engine.kernels.layernorm({.m = m,
                                  .n = size,
                                  .src = sums,
                                  .dst = sums,
                                  .stride = size,
                                  .epsilon_n2 = projection.norm.epsilon_n2,
                                  .gain = projection.norm.gain,
                                  .bias = projection.norm.bias,
                                  .shift = projection.norm.shift});
    dense16_rows(run, projection.dense, {sums, m, size, rows.task}, hidden,
                 [&](size_t i, size_t c, int32_t y) {
                   dst[i * hidden + c] = static_cast<int16_t>(sat16(y));
                 });
    dst += m * hidden;
  }
}

/// dst = the word's vector: s16 [W].
void word_vector(const Run& run, size_t row, int16_t* dst) {
  const Stack& stack = run.stack;
  const GivenVectors given = given_embeddings(run, row);
  // The first row of the segments is zero, and at least as long.
  if (given.first != nullptr) {
    run.engine.kernels.embedding_vector({.n = stack.word_size,
                                         .src = given.first,
                                         .multiplier = given.multiplier,
                                         .position = stack.segments,
                                         .segment = nullptr,
                                         .dst = dst});
  } else {
    embed_token(run.engine.kernels, stack,
                {.id = static_cast<size_t>(run.input.ids[row]),
                 .position = stack.segments,
                 .segment = nullptr,
                 .dst = dst});
  }
}

/// dst = projection of the words + position + segment: s16 [rows][H].
void project_words(const Run& run, const TaskRows& rows, int16_t* dst) {
  const WordProjection& projection = run.stack.word_projection;
  const size_t hidden = run.hidden_size(), size = run.stack.word_size, words = projection.words;
  int16_t* vectors = run.scratch<int16_t>(rows.task, run.plan.row);  // [m][words][W]
  TextRows text = first_text(run, Queries::kAll);
  for (size_t row = rows.begin; row < rows.end; row += kBlockRows / 2) {
    const size_t m = smaller(kBlockRows / 2, rows.end - row);
    for (size_t i = 0; i < m; ++i) {
      while (row + i - text.begin >= text.length) text = next_text(run, Queries::kAll, text);
      for (size_t w = 0; w < words; ++w) {
        // From the next token to the previous one. Before the first one this wraps around.
        const size_t place = row + i - text.begin + words / 2 - w;
        int16_t* vector = vectors + (i * words + w) * size;
        if (place < text.length) {
          word_vector(run, text.begin + place, vector);
        } else {
          memset(vector, 0, size * sizeof(int16_t));
        }
      }
    }
    dense16_rows(run, projection.dense, {vectors, m, words * size, rows.task}, hidden,
                 [&](size_t i, size_t c, int32_t y) {
                   dst[i * hidden + c] = static_cast<int16_t>(sat16(y));
                 });
    sum_embeddings(run, {row, row + m}, {dst, 1 << 16}, dst);
    dst += m * hidden;
  }
}

}  // namespace

void embed_token(const Kernels& kernels, const Stack& stack, const TokenEmbedding& token) {
  const size_t size = stack.word_size;
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

void embed_rows(const Run& run, const TaskRows& rows) {
  int16_t* dst = run.at<int16_t>(run.plan.residual) + rows.begin * run.hidden_size();  // [rows][H]
  if (run.stack.has_projection()) {
    project_embeddings(run, rows, dst);
  } else if (run.stack.has_word_projection()) {
    project_words(run, rows, dst);
  } else {
    sum_embeddings(run, rows, given_embeddings(run, rows.begin), dst);
  }
}

}  // namespace embert
