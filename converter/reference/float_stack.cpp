// SPDX-License-Identifier: Apache-2.0
// The forward pass as the papers have it, block by block; the shape stands beside every buffer.
#include "converter/reference/float_stack.hpp"

#include <algorithm>
#include <utility>

#include "converter/model/rotary_angles.hpp"
#include "converter/reference/float_attention.hpp"
#include "converter/reference/float_ops.hpp"

namespace embert::convert {
namespace {

using Point = ActivationPoint;

// Where an observer looks at an attention block.
struct AttentionPoints {
  Point query, key, value, context, sum;
};
constexpr AttentionPoints kSelfPoints = {.query = Point::kQuery,
                                         .key = Point::kKey,
                                         .value = Point::kValue,
                                         .context = Point::kContext,
                                         .sum = Point::kAttentionSum};
constexpr AttentionPoints kCrossPoints = {.query = Point::kCrossQuery,
                                          .key = Point::kCrossKey,
                                          .value = Point::kCrossValue,
                                          .context = Point::kCrossContext,
                                          .sum = Point::kCrossSum};

// Makes room for the attention probabilities of one more chunk.
float* append_probabilities(std::vector<float>& probabilities, const AttentionInput& in) {
  std::size_t count = 0;
  for (std::size_t text = 0; text < in.query_lengths.size(); ++text) {
    count += in.heads * static_cast<std::size_t>(in.query_lengths[text]) *
             static_cast<std::size_t>(in.key_lengths[text]);
  }
  probabilities.resize(probabilities.size() + count);
  return probabilities.data() + probabilities.size() - count;
}

}  // namespace

FloatStack::Attention::Attention(const AttentionWeights& weights, FloatProducts products)
    : query(weights.query, products),
      key(weights.key, products),
      value(weights.value, products),
      out(weights.out, products),
      residual_gain(weights.residual_gain),
      relative_positions(weights.distance_embedding) {}

FloatStack::Projection::Projection(const EmbeddingProjection& weights, FloatProducts products)
    : norm(weights.norm), dense(weights.dense, products) {}

FloatStack::FeedForward::FeedForward(const FeedForwardWeights& weights, FloatProducts products)
    : norm(weights.ffn_norm),
      up(weights.ffn_up, products),
      down(weights.ffn_down, products),
      residual_gain(weights.residual_gain) {
  if (weights.ffn_gate) gate.emplace(*weights.ffn_gate, products);
}

FloatStack::Bottleneck::Bottleneck(const BottleneckWeights& weights, FloatProducts products)
    : input(weights.input.dense, products),
      input_norm(weights.input.norm),
      query_key_norm(weights.query_key.norm),
      widening_norm(weights.widening_norm),
      output(weights.output, products),
      residual_gain(weights.residual_gain) {
  if (weights.query_key.dense.weight.rows > 0) query_key.emplace(weights.query_key.dense, products);
}

FloatStack::Layer::Layer(const LayerWeights& weights, FloatProducts products)
    : attention(weights.attention, products), cross_norm(weights.cross_norm) {
  if (weights.cross) cross.emplace(*weights.cross, products);
  for (std::size_t i = 0; i <= weights.stacked.size(); ++i) {
    ffns.emplace_back(weights.ffn(i), products);
  }
  if (weights.bottleneck) bottleneck.emplace(*weights.bottleneck, products);
}

FloatStack::FloatStack(const StackConfig& config, const StackWeights& weights, int number,
                       FloatProducts products)
    : config_(config),
      number_(number),
      word_(weights.word_embeddings),
      position_(weights.position_embeddings),
      token_type_(weights.token_type_embeddings),
      score_bias_(weights.score_bias),
      input_norms_(weights.input_norms),
      final_norm_(weights.final_norm) {
  if (config.rotary) {
    angles_ = rotary_angles(config, config.rotary->theta);
    local_angles_ = rotary_angles(config, config.rotary->local_theta);
  }
  if (weights.projection) projection_.emplace(*weights.projection, products);
  if (weights.word_projection) word_projection_.emplace(*weights.word_projection, products);
  for (const LayerWeights& layer : weights.layers) layers_.emplace_back(layer, products);
}

const float* FloatStack::run(const Run& run) {
  const BatchChunk& chunk = run.chunk;
  const auto hidden = static_cast<std::size_t>(config_.hidden_size);
  const std::size_t layers = input_norms_.size();
  width_ = hidden;
  sum_ = buffers_[0].sized(hidden_values(run));
  input_ = buffers_[1].sized(hidden_values(run));
  block_ = buffers_[2].sized(hidden_values(run));
  if (run.options.hidden_states) run.out.hidden_states.resize(layers + 1);
  if (run.options.attentions) {
    run.out.attentions.resize(layers);
    if (config_.cross_attention) run.out.cross_attentions.resize(layers);
  }

  embed(run);
  float* states = nullptr;  // [source rows, cross_hidden_size]
  if (config_.cross_attention) {
    const auto width = static_cast<std::size_t>(config_.cross_hidden_size);
    states = states_.sized(chunk.source_rows * width);
    std::copy_n(chunk.encoder_states, chunk.source_rows * width, states);
    source_viewer(run).show(Point::kCrossStates, 0, states, chunk.source_rows, width);
  }
  std::size_t heads = 0;
  for (std::size_t l = 0; l < layers; ++l) {
    Layer& layer = layers_[config_.weights_of(l)];
    const LayerRun at{.layer = layer, .number = static_cast<int>(l), .first_head = heads};
    heads += static_cast<std::size_t>(config_.num_heads_of_layer[l]);
    normalize(run, input_norms_[l].value_or(LayerNorm()));
    if (config_.norm_position == NormPosition::kPre && config_.adds_to_input(at.number)) {
      // add_residual adds to the sum.
      std::copy_n(input_, hidden_values(run), sum_);
    }
    keep_hidden_state(run, l);
    viewer(run).show(Point::kLayerInput, at.number, input_, chunk.rows, hidden);
    if (layer.bottleneck) enter_bottleneck(run, at);
    attention(run, at, nullptr);
    if (layer.cross) {
      normalize(run, layer.cross_norm);
      attention(run, at, states);
    }
    for (std::size_t i = 0; i < layer.ffns.size(); ++i) {
      normalize(run, layer.ffns[i].norm);
      feed_forward(run, at, i);
    }
    if (layer.bottleneck) leave_bottleneck(run, at);
  }
  normalize(run, final_norm_);
  keep_hidden_state(run, layers);
  viewer(run).show(Point::kLastHidden, config_.num_hidden_layers, input_, chunk.rows, hidden);
  run.out.last_hidden_state.insert(run.out.last_hidden_state.end(), input_,
                                   input_ + hidden_values(run));
  return input_;
}

// sum = embedding sum, or its projection.
void FloatStack::embed(const Run& run) {
  const std::size_t rows = run.chunk.rows, size = token_type_.cols;
  float* const sum = projection_ ? embeddings_.sized(rows * size) : sum_;
  sum_embeddings(run.chunk, word_projection_ ? project_words(run) : run.chunk.inputs_embeds, sum);
  viewer(run).show(Point::kEmbeddingSum, 0, sum, rows, size);
  if (!projection_) return;
  layer_norm_rows(run.pool, {.in = sum,
                             .rows = rows,
                             .norm = projection_->norm,
                             .eps = config_.layer_norm_eps,
                             .out = sum});
  viewer(run).show(Point::kEmbeddingNormed, 0, sum, rows, size);
  projection_->dense.run(sum, rows, sum_, run.pool);
}

const float* FloatStack::project_words(const Run& run) {
  const BatchChunk& chunk = run.chunk;
  const std::size_t words = config_.trigrams ? 3 : 1, hidden = word_projection_->outputs();
  const auto size = static_cast<std::size_t>(config_.word_size());
  float* const vectors = words_.sized(chunk.rows * words * size);  // [rows, words, W]
  float* to = vectors;
  std::size_t begin = 0;  // of the text
  for (const std::int32_t length : chunk.lengths) {
    const auto end = begin + static_cast<std::size_t>(length);
    for (std::size_t row = begin; row < end; ++row) {
      for (std::size_t w = 0; w < words; ++w, to += size) {
        // From the next token to the previous one; zeros beyond both ends of the text.
        const std::size_t from = row + words / 2;
        if (from < begin + w || from - w >= end) {
          std::fill_n(to, size, 0.0F);
        } else if (chunk.inputs_embeds != nullptr) {
          std::copy_n(chunk.inputs_embeds + (from - w) * size, size, to);
        } else {
          std::copy_n(word_.row(static_cast<std::size_t>(chunk.ids[from - w])), size, to);
        }
      }
    }
    begin = end;
  }
  viewer(run).show(Point::kWordVectors, 0, vectors, chunk.rows, words * size);
  float* const out = projected_words_.sized(chunk.rows * hidden);
  word_projection_->run(vectors, chunk.rows, out, run.pool);
  viewer(run).show(Point::kWordSum, 0, out, chunk.rows, hidden);
  return out;
}

// sum = word + segment + position.
void FloatStack::sum_embeddings(const BatchChunk& chunk, const float* words, float* sum) const {
  const std::size_t size = token_type_.cols;
  std::size_t row = 0;
  for (const std::int32_t length : chunk.lengths) {
    std::int32_t counted = 0;  // tokens so far but for the padding id
    for (std::int32_t index = 0; index < length; ++index, ++row, sum += size) {
      const auto type = chunk.type_ids == nullptr ? 0 : chunk.type_ids[row];
      const float* const w = words != nullptr ? words + row * size
                                              : word_.row(static_cast<std::size_t>(chunk.ids[row]));
      const float* const t = token_type_.row(static_cast<std::size_t>(type));
      for (std::size_t c = 0; c < size; ++c) sum[c] = w[c] + t[c];
      if (position_.rows == 0) continue;
      const bool padding = chunk.ids != nullptr && chunk.position_ids == nullptr &&
                           chunk.ids[row] == config_.padding_position_id;
      const auto position = chunk.position_ids != nullptr ? chunk.position_ids[row]
                            : padding                     ? config_.max_position_embeddings
                                                          : counted++;
      const float* const p = position_.row(static_cast<std::size_t>(position));
      for (std::size_t c = 0; c < size; ++c) sum[c] += p[c];
    }
  }
}

// input = norm(sum), or the sum itself.
void FloatStack::normalize(const Run& run, const LayerNorm& norm) {
  if (!norm.is_there()) {
    std::copy_n(sum_, run.chunk.rows * width_, input_);
    return;
  }
  layer_norm_rows(run.pool, {.in = sum_,
                             .rows = run.chunk.rows,
                             .norm = norm,
                             .eps = norm.eps_or(config_.layer_norm_eps),
                             .out = input_});
}

// In pre-LayerNorm stacks sum = block's output + sum.
void FloatStack::add_residual(const Run& run, const std::vector<float>& gain) {
  const bool pre = config_.norm_position == NormPosition::kPre;
  if (!gain.empty()) {
    for (std::size_t i = 0; i < run.chunk.rows * width_; ++i) input_[i] *= gain[i % width_];
  }
  add_values(run.pool, block_, pre ? sum_ : input_, run.chunk.rows * width_);
  std::swap(sum_, block_);
}

void FloatStack::enter_bottleneck(const Run& run, const LayerRun& at) {
  Bottleneck& weights = *at.layer.bottleneck;
  const Viewer view = viewer(run);
  const std::size_t rows = run.chunk.rows;
  float* const hidden = hidden_.sized(hidden_values(run));  // [rows, H]
  std::copy_n(input_, hidden_values(run), hidden);
  width_ = weights.input.outputs();
  if (weights.query_key) {
    weights.query_key->run(hidden, rows, sum_, run.pool);
    view.show(Point::kQueryKeySum, at.number, sum_, rows, width_);
    normalize(run, weights.query_key_norm);
    std::copy_n(input_, rows * width_, query_key_.sized(rows * width_));
    view.show(Point::kQueryKeyInput, at.number, input_, rows, width_);
  }
  weights.input.run(hidden, rows, sum_, run.pool);
  view.show(Point::kIntraSum, at.number, sum_, rows, width_);
  normalize(run, weights.input_norm);
  view.show(Point::kIntraInput, at.number, input_, rows, width_);
}

void FloatStack::leave_bottleneck(const Run& run, const LayerRun& at) {
  Bottleneck& weights = *at.layer.bottleneck;
  const Viewer view = viewer(run);
  const std::size_t rows = run.chunk.rows;
  normalize(run, weights.widening_norm);
  view.show(Point::kBottleneckOutput, at.number, input_, rows, width_);
  weights.output.run(input_, rows, block_, run.pool);
  width_ = weights.output.outputs();
  std::copy_n(hidden_.sized(hidden_values(run)), hidden_values(run), input_);
  add_residual(run, weights.residual_gain);
  view.show(Point::kBottleneckSum, at.number, sum_, rows, width_);
}

void FloatStack::attention(const Run& run, const LayerRun& at, const float* states) {
  const BatchChunk& chunk = run.chunk;
  const bool cross = states != nullptr;
  Attention& weights = cross ? *at.layer.cross : at.layer.attention;
  const AttentionPoints& points = cross ? kCrossPoints : kSelfPoints;
  const Viewer query_viewer = viewer(run);
  const Viewer key_viewer = cross ? source_viewer(run) : query_viewer;
  const std::size_t width = weights.query.outputs();  // A: heads * head size
  const std::size_t rows = chunk.rows, key_rows = cross ? chunk.source_rows : rows;
  const float* queries = input_;
  const float* keys = cross ? states : input_;
  const float* values = keys;
  if (at.layer.bottleneck && config_.bottleneck != BottleneckKind::kInput) {
    values = hidden_.sized(hidden_values(run));
    queries = keys = at.layer.bottleneck->query_key ? query_key_.sized(rows * width_) : values;
  }
  float* const q = query_.sized(rows * width);
  float* const k = key_.sized(key_rows * width);
  float* const v = value_.sized(key_rows * width);
  float* const context = context_.sized(rows * width);

  if (cross) query_viewer.show(Point::kCrossInput, at.number, input_, rows, width_);
  weights.query.run(queries, rows, q, run.pool);
  weights.key.run(keys, key_rows, k, run.pool);
  weights.value.run(values, key_rows, v, run.pool);
  if (config_.rotary) {
    const RotatedRows turned = {.angles = config_.is_local(at.number) ? local_angles_ : angles_,
                                .lengths = chunk.lengths,
                                .position_ids = chunk.position_ids,
                                .heads = width / static_cast<std::size_t>(config_.head_size())};
    rotate_rows(turned, q);
    rotate_rows(turned, k);
  }
  query_viewer.show(points.query, at.number, q, rows, width);
  key_viewer.show(points.key, at.number, k, key_rows, width);
  key_viewer.show(points.value, at.number, v, key_rows, width);

  AttentionInput in;
  in.query = q;
  in.key = k;
  in.value = v;
  in.query_lengths = chunk.lengths;
  in.key_lengths = cross ? chunk.source_lengths : chunk.lengths;
  in.head_size = static_cast<std::size_t>(config_.head_size());
  in.heads = width / in.head_size;
  if (weights.relative_positions.rows > 0) {
    in.position_kind = config_.position_kind;
    in.relative_positions = &weights.relative_positions;
  }
  if (!cross && score_bias_.rows > 0) in.score_bias = &score_bias_;
  in.causal = config_.is_decoder && !cross;
  if (config_.is_local(at.number)) {
    in.reach = static_cast<std::size_t>(config_.local_attention->reach);
  }
  in.key_mask = cross ? chunk.source_key_mask : chunk.key_mask;
  in.query_key_mask = cross ? chunk.source_query_key_mask : chunk.query_key_mask;
  in.head_mask = chunk.head_mask == nullptr ? nullptr : chunk.head_mask + at.first_head;
  float* probabilities = nullptr;
  if (run.options.attentions) {
    auto& of_layers = cross ? run.out.cross_attentions : run.out.attentions;
    probabilities = append_probabilities(of_layers[static_cast<std::size_t>(at.number)], in);
  }
  attend(run.pool, in, context, probabilities);
  query_viewer.show(points.context, at.number, context, rows, width);
  weights.out.run(context, rows, block_, run.pool);
  add_residual(run, weights.residual_gain);
  query_viewer.show(points.sum, at.number, sum_, rows, width_);
}

void FloatStack::feed_forward(const Run& run, const LayerRun& at, std::size_t index) {
  FeedForward& ffn = at.layer.ffns[index];
  Viewer view = viewer(run);
  view.ffn = index;
  const std::size_t rows = run.chunk.rows;
  const auto inner = static_cast<std::size_t>(config_.intermediate_size);
  float* const activated = inner_.sized(rows * inner);

  view.show(Point::kFfnInput, at.number, input_, rows, width_);
  ffn.up.run(input_, rows, activated, run.pool);
  view.show(Point::kFfnPreactivation, at.number, activated, rows, inner);
  apply_activation(run.pool, config_.hidden_act, activated, rows * inner);
  if (ffn.gate) {
    float* const gate = gate_.sized(rows * inner);
    ffn.gate->run(input_, rows, gate, run.pool);
    view.show(Point::kFfnGate, at.number, gate, rows, inner);
    multiply_values(run.pool, activated, gate, rows * inner);
  }
  view.show(Point::kFfnActivated, at.number, activated, rows, inner);
  ffn.down.run(activated, rows, block_, run.pool);
  add_residual(run, ffn.residual_gain);
  view.show(Point::kFfnSum, at.number, sum_, rows, width_);
}

void FloatStack::keep_hidden_state(const Run& run, std::size_t layer) const {
  if (!run.options.hidden_states) return;
  const float* const state = config_.norm_position == NormPosition::kPre ? sum_ : input_;
  std::vector<float>& kept = run.out.hidden_states[layer];
  kept.insert(kept.end(), state, state + hidden_values(run));
}

}  // namespace embert::convert
