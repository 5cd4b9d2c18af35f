// SPDX-License-Identifier: Apache-2.0
// The forward pass, as in the paper: embeddings; then for each layer attention, its output with the
// residual, and the feed-forward network with the residual. Three parallel regions a layer:
// attention over (text, head), the others over rows. Tasks own whole rows or heads, so the number
// of threads changes no bit.
#include "runtime/encoder.hpp"

#include "kernels/layout.hpp"

namespace embert {
namespace {

/// What the tasks of a parallel region share.
struct Pass {
  Engine& engine;
  const embert_input& input;
  size_t tokens;  ///< of all texts
  Layer layer;
  Norm next_norm;  ///< makes the next layer's input, or the last hidden state
};

struct Rows {
  size_t begin, end;
};

/// The rows of a task: equal shares, in steps of 8 rows so that GEMM tiles stay full.
Rows task_rows(const Pass& pass, size_t task) {
  const size_t tiles = (pass.tokens + 7) / 8, threads = pass.engine.options.threads;
  const size_t begin = tiles * task / threads * 8, end = tiles * (task + 1) / threads * 8;
  return {begin, end < pass.tokens ? end : pass.tokens};
}

size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

void normalize(const Pass& pass, const Norm& norm, int16_t* rows, size_t m) {
  const size_t hidden = pass.engine.stack.numbers->hidden_size;
  pass.engine.kernels.layernorm(
      {m, hidden, rows, rows, hidden, norm.epsilon_n2, norm.gain, norm.bias, norm.shift});
}

/// Token, position and segment embeddings, and their LayerNorm.
void embed_rows(void* argument, size_t task) {
  const Pass& pass = *static_cast<const Pass*>(argument);
  Engine& engine = pass.engine;
  const size_t hidden = engine.stack.numbers->hidden_size;
  const Stack& stack = engine.stack;
  int16_t* residual = engine.at<int16_t>(engine.plan.residual);  // [tokens][H]

  const Rows rows = task_rows(pass, task);
  size_t text = 0, text_begin = 0;
  for (size_t row = rows.begin; row < rows.end; ++row) {
    while (row - text_begin >= pass.input.lengths[text]) text_begin += pass.input.lengths[text++];
    const size_t id = static_cast<size_t>(pass.input.ids[row]);
    const size_t type =
        pass.input.type_ids != nullptr ? static_cast<size_t>(pass.input.type_ids[row]) : 0;
    engine.kernels.embedding({hidden, stack.words + id * hidden, stack.word_multipliers[id],
                              stack.positions + (row - text_begin) * hidden,
                              type > 0 ? stack.segments + type * hidden : nullptr,
                              residual + row * hidden});
  }
  if (rows.begin < rows.end) {
    normalize(pass, pass.next_norm, residual + rows.begin * hidden, rows.end - rows.begin);
  }
}

/// Queries, keys and values of one head over one text, from the residual.
void project_head(const Pass& pass, size_t task, size_t head, size_t text_begin, size_t length) {
  Engine& engine = pass.engine;
  const Plan& plan = engine.plan;
  const Dense& qkv = pass.layer.qkv;
  const size_t hidden = engine.stack.numbers->hidden_size,
               head_size = engine.stack.numbers->head_size;
  const size_t inputs = pad_inputs(hidden), columns = pad_columns(head_size);
  const size_t first = head * 3 * columns;  // the head's first column
  const int16_t* residual = engine.at<int16_t>(plan.residual) + text_begin * hidden;
  uint8_t* lhs = engine.scratch<uint8_t>(task, plan.lhs);      // [block][K(H)]
  int32_t* acc = engine.scratch<int32_t>(task, plan.acc);      // [block][acc_columns]
  uint8_t* query = engine.scratch<uint8_t>(task, plan.query);  // [length][K(D)]
  int8_t* key = engine.scratch<int8_t>(task, plan.key);        // n16k4 [N(length)] x [K(D)]
  int8_t* value = engine.scratch<int8_t>(task, plan.value);    // n16k4 [2 N(D)] x [K(length)]
  int32_t* key_sums = engine.scratch<int32_t>(task, plan.key_sums);
  int32_t* value_sums = engine.scratch<int32_t>(task, plan.value_sums);
  const auto of_head = [&](Requantize factor) {
    factor.multiplier += first;
    return factor;
  };

  // The scores GEMM takes whole panels; what it makes of columns without a token is never read, but
  // it must not overflow.
  for (size_t token = length; token < pad_columns(length); ++token) key_sums[token] = 0;
  for (size_t row = 0; row < length; row += kBlockRows) {
    const size_t m = smaller(kBlockRows, length - row);
    engine.kernels.narrow_rows({m, hidden, residual + row * hidden, hidden, lhs, inputs});
    engine.kernels.gemm({m, 3 * columns, inputs, lhs, inputs, LhsType::kSigned,
                         qkv.weights + first * inputs, qkv.bias + first, qkv.sums + first, acc,
                         plan.acc_columns});
    const size_t query_stride = pad_inputs(head_size);
    engine.kernels.requantize_lhs({m, head_size, acc, plan.acc_columns,
                                   of_head(pass.layer.self.query), query + row * query_stride,
                                   query_stride});
    engine.kernels.requantize_key({m, head_size, row, acc + columns, plan.acc_columns,
                                   of_head(pass.layer.self.key), key, key_sums});
    engine.kernels.requantize_value(
        {m, head_size, row, pad_inputs(length), acc + 2 * columns, plan.acc_columns,
         of_head(pass.layer.self.value), value,
         lhs_correction(LhsType::kUnsigned) != 0 ? value_sums : nullptr});
  }
}

/// softmax(Q K^T / sqrt(D)) V of one head over one text, into the context.
void attend(const Pass& pass, size_t task, size_t head, size_t text_begin, size_t length) {
  Engine& engine = pass.engine;
  const Plan& plan = engine.plan;
  const size_t head_size = engine.stack.numbers->head_size;
  const size_t head_inputs = pad_inputs(head_size), columns = pad_columns(head_size);
  const size_t keys = pad_columns(length), key_inputs = pad_inputs(length);
  const uint8_t* query = engine.scratch<uint8_t>(task, plan.query);  // [length][K(D)]
  const int8_t* key = engine.scratch<int8_t>(task, plan.key);        // n16k4 [N(length)] x [K(D)]
  const int8_t* value = engine.scratch<int8_t>(task, plan.value);    // n16k4 [2 N(D)] x [K(length)]
  const int32_t* key_sums = engine.scratch<int32_t>(task, plan.key_sums);
  const int32_t* value_sums = engine.scratch<int32_t>(task, plan.value_sums);
  Reciprocal* reciprocals = engine.scratch<Reciprocal>(task, plan.reciprocals);
  int32_t* scores = engine.scratch<int32_t>(task, plan.scores);         // [block][keys]
  uint8_t* probabilities = engine.scratch<uint8_t>(task, plan.scores);  // in the rows of the scores
  int32_t* sums = engine.scratch<int32_t>(task, plan.context_acc);      // [block][2 N(D)]
  int16_t* context =
      engine.at<int16_t>(plan.shared) + text_begin * plan.context_stride + head * head_size;
  Requantize factor = pass.layer.self.context;
  factor.multiplier += head * columns;

  for (size_t row = 0; row < length; row += kBlockRows) {
    const size_t m = smaller(kBlockRows, length - row);
    engine.kernels.gemm({m, keys, head_inputs, query + row * head_inputs, head_inputs,
                         LhsType::kSigned, key, nullptr, key_sums, scores, keys});
    engine.kernels.softmax({m, length, scores, keys, pass.layer.self.score_multipliers[head],
                            pass.layer.self.distance_caps[head], probabilities, 4 * keys,
                            reciprocals});
    engine.kernels.gemm({m, 2 * columns, key_inputs, probabilities, 4 * keys, LhsType::kUnsigned,
                         value, nullptr, value_sums, sums, 2 * columns});
    engine.kernels.requantize_context({m, head_size, sums, 2 * columns, reciprocals, factor,
                                       context + row * plan.context_stride, plan.context_stride});
  }
}

/// Self-attention: the (text, head) pairs are shared out over the tasks.
void attention(void* argument, size_t task) {
  const Pass& pass = *static_cast<const Pass*>(argument);
  const size_t heads = pass.layer.num_heads, threads = pass.engine.options.threads;
  const size_t pairs = heads * pass.input.batch;
  size_t text = 0, text_begin = 0;
  for (size_t pair = pairs * task / threads; pair < pairs * (task + 1) / threads; ++pair) {
    for (; text < pair / heads; ++text) text_begin += pass.input.lengths[text];
    project_head(pass, task, pair % heads, text_begin, pass.input.lengths[text]);
    attend(pass, task, pair % heads, text_begin, pass.input.lengths[text]);
  }
}

/// rows += lhs * weights for a block of quantised rows: the two sums that end in the residual.
void add_dense(const Pass& pass, size_t task, const ResidualDense& dense, size_t m, size_t k,
               const uint8_t* lhs, size_t lhs_stride, LhsType type, const int32_t* row_max,
               int16_t* rows) {
  const Engine& engine = pass.engine;
  const size_t hidden = engine.stack.numbers->hidden_size, acc_stride = engine.plan.acc_columns;
  int32_t* acc = pass.engine.scratch<int32_t>(task, engine.plan.acc);  // [block][acc_columns]
  for (size_t column = 0; column < hidden; column += kGemmColumns) {
    const size_t n = smaller(kGemmColumns, hidden - column);
    Requantize factor = dense.dense.factor;
    factor.multiplier += column;
    engine.kernels.gemm({m, pad_columns(n), k, lhs, lhs_stride, type,
                         dense.dense.weights + column * k, nullptr, dense.dense.sums + column, acc,
                         acc_stride});
    engine.kernels.requantize_residual({m, n, acc, acc_stride, factor, row_max, rows + column,
                                        dense.residual + column, dense.constant + column,
                                        rows + column, hidden});
  }
}

/// Attention output: LayerNorm(x + W_o c).
void attention_output(void* argument, size_t task) {
  const Pass& pass = *static_cast<const Pass*>(argument);
  Engine& engine = pass.engine;
  const Plan& plan = engine.plan;
  const size_t hidden = engine.stack.numbers->hidden_size, stride = plan.context_stride;
  const size_t width = pass.layer.num_heads * engine.stack.numbers->head_size;
  int16_t* residual = engine.at<int16_t>(plan.residual);  // [tokens][H]
  int16_t* context =
      engine.at<int16_t>(plan.shared);  // [tokens][stride], bytes in place afterwards
  int32_t* row_max = engine.scratch<int32_t>(task, plan.row_max);

  const Rows rows = task_rows(pass, task);
  for (size_t row = rows.begin; row < rows.end; row += kBlockRows) {
    const size_t m = smaller(kBlockRows, rows.end - row);
    uint8_t* bytes = reinterpret_cast<uint8_t*>(context + row * stride);
    engine.kernels.quantize_rows_s16(
        {m, width, context + row * stride, stride, bytes, 2 * stride, row_max});
    add_dense(pass, task, pass.layer.self.output, m, pad_inputs(width), bytes, 2 * stride,
              LhsType::kSigned, row_max, residual + row * hidden);
    normalize(pass, pass.layer.attention_norm, residual + row * hidden, m);
  }
}

/// Feed-forward network: LayerNorm(x + W_2 f(W_1 x)).
void feed_forward(void* argument, size_t task) {
  const Pass& pass = *static_cast<const Pass*>(argument);
  Engine& engine = pass.engine;
  const Plan& plan = engine.plan;
  const Dense& ffn1 = pass.layer.ffn1;
  const size_t hidden = engine.stack.numbers->hidden_size, inputs = pad_inputs(hidden);
  const size_t inner = pass.layer.intermediate_size, stride = plan.ffn_stride;
  int16_t* residual = engine.at<int16_t>(plan.residual);  // [tokens][H]
  uint16_t* activations =
      engine.at<uint16_t>(plan.shared) + task * plan.ffn_rows * stride;  // [ffn_rows][stride]
  uint8_t* bytes = reinterpret_cast<uint8_t*>(activations);              // in place
  uint8_t* lhs = engine.scratch<uint8_t>(task, plan.lhs);                // [block][K(H)]
  int32_t* acc = engine.scratch<int32_t>(task, plan.acc);                // [block][acc_columns]
  int32_t* row_max = engine.scratch<int32_t>(task, plan.row_max);

  const Rows rows = task_rows(pass, task);
  for (size_t row = rows.begin; row < rows.end; row += plan.ffn_rows) {
    const size_t m = smaller(plan.ffn_rows, rows.end - row);
    int16_t* block = residual + row * hidden;
    engine.kernels.narrow_rows({m, hidden, block, hidden, lhs, inputs});
    for (size_t column = 0; column < inner; column += kGemmColumns) {
      const size_t n = smaller(kGemmColumns, inner - column);
      Requantize factor = ffn1.factor;
      factor.multiplier += column;
      engine.kernels.gemm({m, pad_columns(n), inputs, lhs, inputs, LhsType::kSigned,
                           ffn1.weights + column * inputs, ffn1.bias + column, ffn1.sums + column,
                           acc, plan.acc_columns});
      engine.kernels.requantize_activation({m, n, acc, plan.acc_columns, factor,
                                            pass.layer.activation, activations + column, stride});
    }
    engine.kernels.quantize_rows_u16({m, inner, activations, stride, bytes, 2 * stride, row_max});
    add_dense(pass, task, pass.layer.ffn2, m, pad_inputs(inner), bytes, 2 * stride,
              LhsType::kUnsigned, row_max, block);
    normalize(pass, pass.next_norm, block, m);
  }
}

}  // namespace

void encode(Engine& engine, const embert_input& input) {
  const size_t num_layers = engine.stack.numbers->num_layers;
  Pass pass = {engine, input, 0, model_layer(engine.model, engine.stack, 0), {}};
  for (size_t text = 0; text < input.batch; ++text) pass.tokens += input.lengths[text];

  pass.next_norm = pass.layer.input_norm;
  parallel(engine, pass, embed_rows);
  for (size_t l = 0; l < num_layers; ++l) {
    pass.layer = model_layer(engine.model, engine.stack, l);
    pass.next_norm = l + 1 < num_layers ? model_layer(engine.model, engine.stack, l + 1).input_norm
                                        : engine.stack.output_norm;
    parallel(engine, pass, attention);
    parallel(engine, pass, attention_output);
    parallel(engine, pass, feed_forward);
  }
}

}  // namespace embert
