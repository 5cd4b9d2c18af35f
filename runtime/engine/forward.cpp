// SPDX-License-Identifier: Apache-2.0
// The forward pass, as in the paper: embeddings; then for each layer attention and feed-forward
// network, each added to the residual, and in decoders that read an encoder cross-attention between
// them. A block is one or two parallel regions: attention over (text, head) pairs, the others over
// rows.
//
// Each block ends with the LayerNorm that makes the input of the next one, its argument `then`. In
// post-norm (Devlin et al. 2018) LayerNorm's output replaces the residual sum that it reads, and
// the next block adds to it. In pre-norm the sum stays, and LayerNorm's output lies beside it.
#include "runtime/engine/forward.hpp"

#include <string.h>

#include "kernels/arithmetic/layout.hpp"
#include "runtime/engine/attention/attention.hpp"
#include "runtime/engine/attention/head_projections.hpp"
#include "runtime/engine/attention/kv_cache.hpp"
#include "runtime/engine/input/embeddings.hpp"
#include "runtime/engine/planes.hpp"

namespace embert {
namespace {

/// How a layer's input is made from the residual sum, or behind the last layer the last hidden
/// state.
struct LayerInput {
  Norm norm;
  ChannelRescale hidden_rescale;
  size_t hidden_state;  ///< number of this hidden state: 0 the embeddings, l + 1 after layer l
};
/// Of rows inside a layer, which are no hidden state.
constexpr size_t kNoHiddenState = SIZE_MAX;

// noinline: keeps a Layer (800 bytes, 512 with 32-bit pointers) off the caller's frame.
[[gnu::noinline]] LayerInput layer_input(const Run& run, size_t index) {
  if (index == run.num_layers()) return {run.stack.final_norm, {}, index};
  const Layer layer = model_layer(run.engine.model, run.stack, index);
  return {layer.input_norm, layer.hidden_rescale, index};
}

/// normalized = LayerNorm(residual) for rows row .. row + m - 1.
void normalize(const Run& run, const Stream& stream, const Norm& norm, size_t row, size_t m) {
  if (norm.gain == nullptr || m == 0) return;
  const size_t width = stream.width;
  run.engine.kernels.layernorm({.m = m,
                                .n = width,
                                .src = run.at<int16_t>(stream.residual) + row * width,
                                .dst = run.at<int16_t>(stream.normalized) + row * width,
                                .stride = width,
                                .epsilon_n2 = norm.epsilon_n2,
                                .gain = norm.gain,
                                .bias = norm.bias,
                                .shift = norm.shift});
}

/// Copies rows of a hidden state to the caller who asked for it: in pre-norm the residual sum, else
/// the next layer's input, rescaled from per-channel scales to one.
void write_hidden_state(const Run& run, const LayerInput& state, size_t row, size_t m) {
  if (run.output.hidden_states == nullptr || state.hidden_state == kNoHiddenState) return;
  const size_t hidden = run.hidden_size();
  const bool is_sum = state.hidden_rescale.multiplier == nullptr;
  const int16_t* rows =
      run.at<int16_t>(is_sum ? run.plan.residual : run.plan.normalized) + row * hidden;
  int16_t* dst = run.output.hidden_states + (state.hidden_state * run.tokens + row) * hidden;
  if (is_sum) {
    memcpy(dst, rows, m * hidden * sizeof(int16_t));
  } else {
    run.engine.kernels.rescale_channels({.m = m,
                                         .n = hidden,
                                         .src = rows,
                                         .src_stride = hidden,
                                         .multiplier = state.hidden_rescale.multiplier,
                                         .offset = state.hidden_rescale.offset,
                                         .dst = dst,
                                         .dst_stride = hidden});
  }
}

/// Makes the layer's input of rows whose residual sum is complete.
void finish_rows(const Run& run, const Stream& stream, const LayerInput& then, size_t row,
                 size_t m) {
  normalize(run, stream, then.norm, row, m);
  write_hidden_state(run, then, row, m);
}

/// The embeddings of all tokens, and the first layer's input.
void embed(const Run& run, const LayerInput& then) {
  parallel_rows(run, Queries::kAll, [&](const TaskRows& rows) {
    embed_rows(run, rows);
    finish_rows(run, hidden_stream(run), then, rows.begin, rows.end - rows.begin);
  });
}

/// Columns of a dense layer, of n, whose sums fit the accumulators at a time, for m rows of so many
/// planes: a multiple of kGemmColumns or of half of it. A layer that does not fit goes in as few
/// parts as such multiples allow, as a kernel prepares the inputs anew for each.
size_t columns_at_a_time(const StackPlan& plan, size_t m, size_t planes, size_t n) {
  const size_t least = kGemmColumns / planes;
  const size_t sums = size_t{plan.dense_rows} * plan.acc_columns;
  const size_t most = sums / (planes * m) / least * least;
  const size_t times = (n + most - 1) / most;
  return round_up((n + times - 1) / times, least);
}

/// The rows of a residual from `row` on.
struct SumRows {
  const Stream& stream;
  size_t row;
};

/// residual += rows * weights; a block that adds to its input: residual = input + rows * weights.
void add_dense(const Run& run, size_t task, const ResidualDense& out, const QuantizedRows& rows,
               const SumRows& to) {
  const Kernels& kernels = run.engine.kernels;
  const size_t width = to.stream.width, lhs_rows = rows.planes * rows.m;
  const size_t block = columns_at_a_time(run.plan, rows.m, rows.planes, width);
  int16_t* sum = run.at<int16_t>(to.stream.residual) + to.row * width;
  const int16_t* residual =
      out.adds_to_input ? run.at<int16_t>(to.stream.normalized) + to.row * width : sum;
  int32_t* acc = run.scratch<int32_t>(task, run.plan.acc);  // [lhs_rows][block]
  // Of n columns from `column` on: the product, and the residual sums.
  const auto product = [&](size_t column, size_t n) {
    return GemmArgs{.m = lhs_rows,
                    .n = pad_columns(n),
                    .k = rows.k,
                    .lhs = rows.data,
                    .lhs_stride = rows.stride,
                    .lhs_type = rows.type,
                    .rhs_order = weight_order(run.engine.model),
                    .rhs = out.dense.weights + column * rows.k,
                    .bias = nullptr,
                    .sums = out.dense.sums + column,
                    .dst = acc,
                    .dst_stride = block,
                    .planes = rows.planes};
  };
  const auto sums = [&](size_t column, size_t n) {
    Requantize factor = out.dense.factor;
    factor.multiplier += column;
    return RequantizeResidualArgs{.m = rows.m,
                                  .n = n,
                                  .acc = acc,
                                  .acc_stride = rows.planes * block,
                                  .factor = factor,
                                  .row_max = rows.row_max,
                                  .residual = residual + column,
                                  .residual_multiplier = out.residual + column,
                                  .constant = out.constant + column,
                                  .dst = sum + column,
                                  .dst_stride = width};
  };
  size_t column = 0;
  if (kHasDenseStep && rows.planes == 1) {
    column = kernels.dense_residual({product(0, width), sums(0, width)});
  }
  for (; column < width; column += block) {
    const size_t n = smaller(block, width - column);
    kernels.gemm(product(column, n));
    if (rows.planes > 1) join_sums(run, {acc, block, rows.m, pad_columns(n), nullptr});
    kernels.requantize_residual(sums(column, n));
  }
}

/// residual += rows * W_2. Its columns may be two groups, each of which has row scales of its own;
/// the second adds to the sum of the first.
void add_ffn_down(const Run& run, size_t task, const FeedForward& ffn, const RowsInPlace& in,
                  const SumRows& to) {
  const LhsType type = ffn.is_gated() ? LhsType::kSigned : LhsType::kUnsigned;
  const bool planes = ffn.down.reads_planes();
  if (!ffn.has_column_groups()) {
    return add_dense(run, task, ffn.down,
                     planes ? split_rows(run, task, in, type) : quantize_rows(run, task, in, type),
                     to);
  }
  const size_t first = ffn.first_columns, second = in.k - first;
  if (planes) {
    // The planes of a row lie where both groups were.
    QuantizedRows rows = split_rows(run, task, in, type);
    rows.k = first;
    add_dense(run, task, ffn.down, rows, to);
    rows.data += first;
    rows.k = pad_inputs(second);
    return add_dense(run, task, ffn.down_second, rows, to);
  }
  add_dense(run, task, ffn.down, quantize_rows(run, task, {in.rows, in.stride, in.m, first}, type),
            to);
  add_dense(run, task, ffn.down_second,
            quantize_rows(run, task, {in.rows + first, in.stride, in.m, second}, type), to);
}

/// The rows that a block computes, and the residual to which it adds.
struct BlockRows {
  Stream stream;
  Queries queries;
};

/// residual += W_o * context, where width is heads * D; then the next block's LayerNorm.
void attention_output(const Run& run, const ResidualDense& out, size_t width, const BlockRows& to,
                      const Norm& then) {
  parallel_rows(run, to.queries, [&, width](const TaskRows& rows) {
    const StackPlan& plan = run.plan;
    const size_t stride = plan.context_stride;
    int16_t* context = run.at<int16_t>(plan.shared);  // [rows][stride]; bytes in place afterwards

    size_t m = 0;
    for (size_t row = rows.begin; row < rows.end; row += m) {
      m = block_rows(rows.end - row, plan.dense_rows);
      int16_t* block = context + row * stride;
      const RowsInPlace in = {block, stride, m, width};
      add_dense(run, rows.task, out,
                out.reads_planes() ? split_rows(run, rows.task, in, LhsType::kSigned)
                                   : quantize_rows(run, rows.task, in, LhsType::kSigned),
                {to.stream, row});
      normalize(run, to.stream, then, row, m);
    }
  });
}

/// residual += W_2 f(W_1 x), gated W_2 (f(W_1 x) * V x) (Shazeer 2020, equation 6), for a share of
/// the rows, then the next layer's input of them.
void feed_forward_rows(const Run& run, const TaskRows& rows, const FeedForward& ffn,
                       const Stream& stream, const LayerInput& then) {
  const StackPlan& plan = run.plan;
  const Kernels& kernels = run.engine.kernels;
  const Dense& up = ffn.up;
  const size_t task = rows.task, width = stream.width;
  const size_t inputs = pad_inputs(width + ffn.copied.count);
  const size_t inner = ffn.intermediate_size, stride = plan.ffn_stride;
  const int16_t* normalized = run.at<int16_t>(stream.normalized);  // [rows][width]
  uint16_t* activations =
      run.at<uint16_t>(plan.shared) + task * plan.ffn_rows * stride;  // [ffn_rows][stride]
  uint8_t* lhs = run.scratch<uint8_t>(task, plan.lhs);                // [planes * m][lhs_stride]
  int32_t* acc = run.scratch<int32_t>(task, plan.acc);                // [planes * m][block]
  const size_t planes = ffn.up_reads_planes() ? 2 : 1;

  size_t m = 0;
  for (size_t row = rows.begin; row < rows.end; row += m) {
    m = block_rows(rows.end - row, smaller(plan.ffn_rows, plan.dense_rows / planes));
    const size_t block = columns_at_a_time(plan, m, planes, inner);
    make_lhs(run, task, {normalized + row * width, m, width}, planes, ffn.copied);
    // Of n columns of `up` from `column` on: the product, its factors, and the activations.
    const auto product = [&](size_t column, size_t n) {
      return GemmArgs{.m = planes * m,
                      .n = pad_columns(n),
                      .k = inputs,
                      .lhs = lhs,
                      .lhs_stride = plan.lhs_stride,
                      .lhs_type = LhsType::kSigned,
                      .rhs_order = weight_order(run.engine.model),
                      .rhs = up.weights + column * inputs,
                      .bias = planes > 1 ? nullptr : up.bias + column,
                      .sums = up.sums + column,
                      .dst = acc,
                      .dst_stride = block,
                      .planes = planes};
    };
    const auto factor = [&](size_t column) {
      return Requantize{up.factor.multiplier + column, up.factor.left, up.factor.right};
    };
    const auto activated = [&](size_t column, size_t n) {
      return RequantizeActivationArgs{.m = m,
                                      .n = n,
                                      .acc = acc,
                                      .acc_stride = planes * block,
                                      .factor = factor(column),
                                      .activation = ffn.activation,
                                      .dst = activations + column,
                                      .dst_stride = stride};
    };
    const auto multiply = [&](size_t column, size_t n) {
      kernels.gemm(product(column, n));
      if (planes > 1) join_sums(run, {acc, block, m, pad_columns(n), up.bias + column});
    };
    size_t column = 0;
    if (kHasDenseStep && planes == 1) {
      column = kernels.dense_activation({product(0, inner), activated(0, inner)});
    }
    for (; column < inner; column += block) {
      const size_t n = smaller(block, inner - column);
      multiply(column, n);
      kernels.requantize_activation(activated(column, n));
    }
    for (column = 0; ffn.is_gated() && column < inner; column += block) {
      const size_t n = smaller(block, inner - column);
      multiply(pad_columns(inner) + column, n);
      kernels.requantize_gate({.m = m,
                               .n = n,
                               .acc = acc,
                               .acc_stride = planes * block,
                               .factor = factor(pad_columns(inner) + column),
                               .offset = activation_offset(ffn.activation),
                               .shift = ffn.gate_shift,
                               .values = reinterpret_cast<int16_t*>(activations) + column,
                               .stride = stride});
    }
    add_ffn_down(run, task, ffn, {reinterpret_cast<int16_t*>(activations), stride, m, inner},
                 {stream, row});
    finish_rows(run, stream, then, row, m);
  }
}

void feed_forward(const Run& run, const FeedForward& ffn, const BlockRows& to,
                  const LayerInput& then) {
  parallel_rows(run, to.queries,
                [&](const TaskRows& rows) { feed_forward_rows(run, rows, ffn, to.stream, then); });
}

/// Moves each text's first row of the residual that attention adds to to the front. The blocks that
/// follow compute these rows alone.
void gather_first_rows(const Run& run, const Stream& stream, bool adds_to_input) {
  const size_t width = stream.width;
  int16_t* residual = run.at<int16_t>(adds_to_input ? stream.normalized : stream.residual);
  for (TextRows text = first_text(run, Queries::kFirst); text.text < run.input.batch;
       text = next_text(run, Queries::kFirst, text)) {
    memmove(residual + text.first_query * width, residual + text.begin * width,
            width * sizeof(int16_t));
  }
}

void run_layer(const Run& run, const Layer& layer, const LayerInput& next) {
  const BlockRows to = {hidden_stream(run), run.queries(layer.index)};
  const size_t width = layer.num_heads * run.head_size();

  self_attention(run, layer, to.queries, {to.stream.normalized, to.stream.width, 0, 0, nullptr});
  if (to.queries == Queries::kFirst) {
    gather_first_rows(run, to.stream, layer.self.out.adds_to_input);
  }
  if (layer.has_cross_attention()) {
    attention_output(run, layer.self.out, width, to, /*then=*/layer.cross_norm);
    cross_attention(run, layer, to.queries);
    attention_output(run, layer.cross.out, width, to, /*then=*/layer.ffn.norm);
  } else {
    attention_output(run, layer.self.out, width, to, /*then=*/layer.ffn.norm);
  }
  feed_forward(run, layer.ffn, to, /*then=*/next);
}

/// residual = residual * multipliers + W * from. The rows `from` go in with their fixed scale.
void bottleneck(const Run& run, const ResidualDense& dense, const Stream& from, const BlockRows& to,
                const LayerInput& then) {
  parallel_rows(run, to.queries, [&](const TaskRows& rows) {
    const StackPlan& plan = run.plan;
    uint8_t* lhs = run.scratch<uint8_t>(rows.task, plan.lhs);          // [m][lhs_stride]
    int32_t* row_max = run.scratch<int32_t>(rows.task, plan.row_max);  // [m]
    for (size_t i = 0; i < kBlockRows; ++i) row_max[i] = kFixedRowMax;
    size_t m = 0;
    for (size_t row = rows.begin; row < rows.end; row += m) {
      m = block_rows(rows.end - row, kBlockRows);
      run.engine.kernels.convert_s8_s16({.m = m,
                                         .k = from.width,
                                         .src = run.at<int16_t>(from.normalized) + row * from.width,
                                         .src_stride = from.width,
                                         .dst = lhs,
                                         .dst_stride = plan.lhs_stride});
      const QuantizedRows quantized = {.data = lhs,
                                       .stride = plan.lhs_stride,
                                       .m = m,
                                       .k = pad_inputs(from.width),
                                       .type = LhsType::kSigned,
                                       .row_max = row_max};
      add_dense(run, rows.task, dense, quantized, {to.stream, row});
      finish_rows(run, to.stream, then, row, m);
    }
  });
}

/// A layer with bottlenecks, or with several feed-forward networks. noinline: see layer_input.
[[gnu::noinline]] void run_bottleneck_layer(const Run& run, const Layer& layer,
                                            const LayerInput& next) {
  const Model& model = run.engine.model;
  const BlobBottleneck& config = *run.stack.bottleneck;
  const bool narrow = config.kind != kBottleneckNone;
  const Queries queries = run.queries(layer.index);
  const Stream hidden = hidden_stream(run);
  // The rows inside the layer, and those that queries and keys read.
  const uint64_t intra_rows = run.plan.residual + stream_bytes(run.engine.options, hidden.width);
  const uint64_t shared_rows = intra_rows + stream_bytes(run.engine.options, config.intra_size);
  const Stream intra = narrow ? Stream{intra_rows, intra_rows, config.intra_size} : hidden;
  const Stream shared = {shared_rows, shared_rows, config.intra_size};
  const LayerBottleneck parts =
      narrow ? model_bottleneck(model, run.stack, layer.index) : LayerBottleneck{};
  const auto then = [](const Norm& norm) { return LayerInput{norm, {}, kNoHiddenState}; };

  AttentionRows in = {hidden.normalized, hidden.width, 0, 0, nullptr};
  if (narrow) bottleneck(run, parts.input, hidden, {intra, Queries::kAll}, then(parts.input_norm));
  if (config.kind == kBottleneckInput) in = {intra.normalized, intra.width, 0, 0, nullptr};
  if (config.kind == kBottleneckShared) {
    bottleneck(run, parts.query_key, hidden, {shared, Queries::kAll}, then(parts.query_key_norm));
    in = {shared.normalized, shared.width, hidden.normalized, hidden.width, &parts.value};
  }
  self_attention(run, layer, queries, in);
  if (queries == Queries::kFirst) {
    gather_first_rows(run, intra, /*adds_to_input=*/false);
    if (narrow) gather_first_rows(run, hidden, /*adds_to_input=*/false);
  }
  attention_output(run, layer.self.out, layer.num_heads * run.head_size(), {intra, queries},
                   layer.ffn.norm);
  FeedForward ffn = layer.ffn;
  for (size_t i = 1; i < config.num_ffns; ++i) {
    const FeedForward behind = model_stacked_ffn(model, run.stack, layer.index, i);
    feed_forward(run, ffn, {intra, queries}, then(behind.norm));
    ffn = behind;
  }
  feed_forward(run, ffn, {intra, queries}, narrow ? then(parts.widening_norm) : next);
  if (narrow) bottleneck(run, parts.output, intra, {hidden, queries}, next);
}

/// The caller's mask bytes of this call's tokens go behind those in the cache.
void append_masks(const Run& run) {
  const KvCache cache = self_cache(run.engine);
  const uint8_t* mask = run.input.key_mask;
  for (size_t text = 0; text < run.input.batch; ++text) {
    cache.append_mask(text, mask, run.input.lengths[text]);
    if (mask != nullptr) mask += run.input.lengths[text];
  }
}

/// The tokens of this call are in the cache from now on.
void commit_tokens(const Run& run) {
  const KvCache cache = self_cache(run.engine);
  for (size_t text = 0; text < run.input.batch; ++text) {
    cache.length(text) += run.input.lengths[text];
  }
}

// noinline: see layer_input.
[[gnu::noinline]] void write_scales(const Run& run) {
  embert_scale* scales = run.output.hidden_state_scales;
  if (run.output.hidden_states == nullptr || scales == nullptr) return;
  const BlobStack& config = *run.stack.config;
  for (size_t l = 0; l < config.num_layers; ++l) {
    scales[l].float_bits = model_layer(run.engine.model, run.stack, l).hidden_scale;
  }
  const bool pre_norm = (config.flags & kStackPreNorm) != 0;
  scales[config.num_layers].float_bits = pre_norm ? config.sum_scale : config.hidden_scale;
}

}  // namespace

Run run_stack(Engine& engine, size_t stack, const embert_input& input, const embert_output& output,
              bool first_only) {
  const Run run(engine, stack, input, output, first_only);
  if (run.causal) append_masks(run);

  embed(run, /*then=*/layer_input(run, 0));
  for (size_t l = 0; l < run.num_layers(); ++l) {
    const auto run_one = run.stack.has_bottleneck() ? run_bottleneck_layer : run_layer;
    run_one(run, model_layer(engine.model, run.stack, l), /*next=*/layer_input(run, l + 1));
  }

  if (run.causal) commit_tokens(run);
  write_scales(run);
  return run;
}

}  // namespace embert
