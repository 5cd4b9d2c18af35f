// SPDX-License-Identifier: Apache-2.0
// The forward pass, as in the paper: embeddings; then for each layer attention, its output with the
// residual, and the feed-forward network with the residual; between them, in decoders that read an
// encoder, cross-attention. Two or three parallel regions a block: attention over (text, head), the
// others over rows.
//
// In post-norm (Devlin et al. 2018) a LayerNorm's output replaces the sum that it reads, and is
// what the next block adds to. In pre-norm the sum stays, and LayerNorm's output goes beside it.
#include "runtime/engine/forward.hpp"

#include <string.h>

#include "kernels/arithmetic/layout.hpp"
#include "runtime/engine/attention.hpp"
#include "runtime/engine/kv_cache.hpp"
#include "runtime/model/scale.hpp"

namespace embert {
namespace {

/// normalized = LayerNorm(residual) for a block of rows.
void normalize(const Pass& pass, const Norm& norm, size_t row, size_t m) {
  if (norm.gain == nullptr || m == 0) return;
  const size_t hidden = pass.hidden_size();
  const int16_t* residual = pass.at<int16_t>(pass.plan.residual) + row * hidden;
  int16_t* normalized = pass.at<int16_t>(pass.plan.normalized) + row * hidden;
  pass.engine.kernels.layernorm(
      {m, hidden, residual, normalized, hidden, norm.epsilon_n2, norm.gain, norm.bias, norm.shift});
}

/// Hidden state `index` of a block of rows, for callers that ask for it: the residual sum in
/// pre-norm, else what the next layer reads, out of the domain in which it reads it.
void show_hidden_state(const Pass& pass, size_t index, size_t row, size_t m) {
  if (pass.output.hidden_states == nullptr) return;
  const size_t hidden = pass.hidden_size();
  const int16_t* rows = pass.at<int16_t>(pass.plan.residual) + row * hidden;
  int16_t* dst = pass.output.hidden_states + (index * pass.tokens + row) * hidden;
  if (pass.next_rescale.multiplier == nullptr) {
    memcpy(dst, rows, m * hidden * sizeof(int16_t));
  } else {
    pass.engine.kernels.rescale_channels({m, hidden, rows, hidden, pass.next_rescale.multiplier,
                                          pass.next_rescale.offset, dst, hidden});
  }
}

/// Token, position and segment embeddings, and their LayerNorm.
void embed_rows(const Pass& pass, size_t task) {
  const Stack& stack = pass.stack;
  const Kernels& kernels = pass.engine.kernels;
  const embert_input& input = pass.input;
  const size_t hidden = pass.hidden_size();
  int16_t* residual = pass.at<int16_t>(pass.plan.residual);  // [tokens][H]
  const int32_t embeddings_ratio =
      input.embeddings != nullptr
          ? scale_ratio_q16(input.embeddings_scale.float_bits, stack.config->embedding_scale)
          : 0;

  const Rows rows = task_rows(pass, task);
  TextRows text = first_text(pass);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    while (row - text.begin >= text.length) text = next_text(pass, text);
    const size_t type = input.type_ids != nullptr ? static_cast<size_t>(input.type_ids[row]) : 0;
    const size_t position = input.position_ids != nullptr
                                ? static_cast<size_t>(input.position_ids[row])
                                : text.past + row - text.begin;
    const int16_t* of_position = stack.positions + position * hidden;
    const int16_t* of_segment = type > 0 ? stack.segments + type * hidden : nullptr;
    int16_t* dst = residual + row * hidden;
    if (input.embeddings != nullptr) {
      kernels.embedding_vector({hidden, input.embeddings + row * hidden, embeddings_ratio,
                                of_position, of_segment, dst});
    } else {
      const size_t id = static_cast<size_t>(input.ids[row]);
      kernels.embedding({hidden, stack.words + id * hidden, stack.word_multipliers[id], of_position,
                         of_segment, dst});
    }
  }
  const size_t m = rows.end - rows.begin;
  normalize(pass, pass.next_norm, rows.begin, m);
  show_hidden_state(pass, 0, rows.begin, m);
}

/// How many columns of a dense layer fit the accumulators at a time, for m rows.
size_t columns_at_a_time(const Plan& plan, size_t m) {
  return kBlockRows * plan.acc_columns / m / kPanelColumns * kPanelColumns;
}

/// residual += lhs * weights for a block of quantised rows from `row` on: the sums that end in the
/// residual.
void add_dense(const Pass& pass, size_t task, const ResidualDense& dense, size_t row, size_t m,
               size_t k, const uint8_t* lhs, size_t lhs_stride, LhsType type,
               const int32_t* row_max) {
  const Kernels& kernels = pass.engine.kernels;
  const size_t hidden = pass.hidden_size(), run = columns_at_a_time(pass.plan, m);
  int16_t* residual = pass.at<int16_t>(pass.plan.residual) + row * hidden;
  int32_t* acc = pass.scratch<int32_t>(task, pass.plan.acc);  // [m][run]
  for (size_t column = 0; column < hidden; column += run) {
    const size_t n = smaller(run, hidden - column);
    Requantize factor = dense.dense.factor;
    factor.multiplier += column;
    kernels.gemm({m, pad_columns(n), k, lhs, lhs_stride, type, dense.dense.weights + column * k,
                  nullptr, dense.dense.sums + column, acc, run});
    kernels.requantize_residual({m, n, acc, run, factor, row_max, residual + column,
                                 dense.residual + column, dense.constant + column,
                                 residual + column, hidden});
  }
}

/// x + W_o c and the LayerNorm that makes the next block's input.
void attention_output(const Pass& pass, size_t task, const ResidualDense& output,
                      const Norm& norm) {
  const Plan& plan = pass.plan;
  const size_t stride = plan.context_stride, width = pass.layer.num_heads * pass.head_size();
  int16_t* context = pass.at<int16_t>(plan.shared);  // [rows][stride], bytes in place afterwards
  int32_t* row_max = pass.scratch<int32_t>(task, plan.row_max);

  const Rows rows = task_rows(pass, task);
  for (size_t row = rows.begin; row < rows.end; row += kBlockRows) {
    const size_t m = smaller(kBlockRows, rows.end - row);
    uint8_t* bytes = reinterpret_cast<uint8_t*>(context + row * stride);
    pass.engine.kernels.quantize_s8_s16(
        {m, width, context + row * stride, stride, bytes, 2 * stride, row_max});
    add_dense(pass, task, output, row, m, pad_inputs(width), bytes, 2 * stride, LhsType::kSigned,
              row_max);
    normalize(pass, norm, row, m);
  }
}

void self_attention_output(const Pass& pass, size_t task) {
  attention_output(pass, task, pass.layer.self.out, pass.layer.attention_norm);
}

void cross_attention_output(const Pass& pass, size_t task) {
  attention_output(pass, task, pass.layer.cross.out, pass.layer.cross_norm);
}

/// x + W_2 f(W_1 x) and the LayerNorm that makes the next layer's input.
void feed_forward(const Pass& pass, size_t task) {
  const Plan& plan = pass.plan;
  const Kernels& kernels = pass.engine.kernels;
  const Dense& ffn_up = pass.layer.ffn_up;
  const size_t hidden = pass.hidden_size(), inputs = pad_inputs(hidden);
  const size_t inner = pass.layer.intermediate_size, stride = plan.ffn_stride;
  const int16_t* normalized = pass.at<int16_t>(plan.normalized);  // [rows][H]
  uint16_t* activations =
      pass.at<uint16_t>(plan.shared) + task * plan.ffn_rows * stride;  // [ffn_rows][stride]
  uint8_t* bytes = reinterpret_cast<uint8_t*>(activations);            // in place
  uint8_t* lhs = pass.scratch<uint8_t>(task, plan.lhs);                // [block][lhs_stride]
  int32_t* acc = pass.scratch<int32_t>(task, plan.acc);                // [m][run]
  int32_t* row_max = pass.scratch<int32_t>(task, plan.row_max);

  const Rows rows = task_rows(pass, task);
  for (size_t row = rows.begin; row < rows.end; row += plan.ffn_rows) {
    const size_t m = smaller(plan.ffn_rows, rows.end - row), run = columns_at_a_time(plan, m);
    kernels.convert_s8_s16({m, hidden, normalized + row * hidden, hidden, lhs, plan.lhs_stride});
    for (size_t column = 0; column < inner; column += run) {
      const size_t n = smaller(run, inner - column);
      Requantize factor = ffn_up.factor;
      factor.multiplier += column;
      kernels.gemm({m, pad_columns(n), inputs, lhs, plan.lhs_stride, LhsType::kSigned,
                    ffn_up.weights + column * inputs, ffn_up.bias + column, ffn_up.sums + column,
                    acc, run});
      kernels.requantize_activation(
          {m, n, acc, run, factor, pass.layer.activation, activations + column, stride});
    }
    kernels.quantize_u8_u16({m, inner, activations, stride, bytes, 2 * stride, row_max});
    add_dense(pass, task, pass.layer.ffn_down, row, m, pad_inputs(inner), bytes, 2 * stride,
              LhsType::kUnsigned, row_max);
    normalize(pass, pass.next_norm, row, m);
    show_hidden_state(pass, pass.layer_index + 1, row, m);
  }
}

// Not inlined, as the next: a Layer is 300 bytes or more of stack, which would stay there under all
// layers.
/// What makes the input of layer `index`, or behind the last one the last hidden state.
[[gnu::noinline]] void set_next(Pass& pass, size_t index) {
  if (index < pass.stack.config->num_layers) {
    const Layer next = model_layer(pass.engine.model, pass.stack, index);
    pass.next_norm = next.input_norm;
    pass.next_rescale = next.rescale_channels;
  } else {
    pass.next_norm = pass.stack.final_norm;
    pass.next_rescale = {};
  }
}

/// The layer that runs next, and what stands behind it.
[[gnu::noinline]] void enter_layer(Pass& pass, size_t index) {
  pass.layer_index = index;
  pass.layer = model_layer(pass.engine.model, pass.stack, index);
  set_next(pass, index + 1);
}

/// Each text's first row to the front: what follows is computed for these alone.
void gather_first_rows(Pass& pass) {
  const size_t hidden = pass.hidden_size();
  int16_t* residual = pass.at<int16_t>(pass.plan.residual);
  for (TextRows text = first_text(pass); text.text < pass.input.batch;
       text = next_text(pass, text)) {
    memmove(residual + text.text * hidden, residual + text.begin * hidden,
            hidden * sizeof(int16_t));
  }
  pass.rows = pass.input.batch;
  pass.gathered = true;
}

[[gnu::noinline]] void show_scales(const Pass& pass) {
  embert_scale* scales = pass.output.hidden_state_scales;
  if (pass.output.hidden_states == nullptr || scales == nullptr) return;
  const BlobStack& config = *pass.stack.config;
  for (size_t l = 0; l < config.num_layers; ++l) {
    scales[l].float_bits = model_layer(pass.engine.model, pass.stack, l).hidden_scale;
  }
  const bool pre_norm = (config.flags & kStackPreNorm) != 0;
  scales[config.num_layers].float_bits = pre_norm ? config.sum_scale : config.hidden_scale;
}

}  // namespace

Pass run_stack(Engine& engine, size_t stack, const embert_input& input, const embert_output& output,
               bool first_only) {
  Pass pass = make_pass(engine, stack, input, output);
  pass.first_only = first_only;
  if (pass.causal) remember_masks(pass);

  set_next(pass, 0);
  parallel(pass, embed_rows);
  for (size_t l = 0; l < pass.stack.config->num_layers; ++l) {
    enter_layer(pass, l);
    parallel(pass, self_attention);
    if (pass.is_pruned()) gather_first_rows(pass);
    parallel(pass, self_attention_output);
    if (pass.layer.cross_query.weights != nullptr) {
      parallel(pass, cross_attention);
      parallel(pass, cross_attention_output);
    }
    parallel(pass, feed_forward);
  }

  if (pass.causal) remember_tokens(pass);
  show_scales(pass);
  return pass;
}

}  // namespace embert
