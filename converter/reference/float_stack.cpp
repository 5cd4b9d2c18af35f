// SPDX-License-Identifier: Apache-2.0
// The pass as the paper has it, block by block; the shape stands beside every buffer.
#include "converter/reference/float_stack.hpp"

#include <algorithm>
#include <utility>

#include "converter/reference/float_attention.hpp"
#include "converter/reference/float_ops.hpp"
#include "converter/reference/forward_output.hpp"

namespace embert::convert {
namespace {

using Point = ActivationPoint;

// Where an observer looks at an attention block.
struct AttentionPoints {
  Point input, query, key, value, context, sum;
};
constexpr AttentionPoints kSelfPoints = {Point::kLayerInput, Point::kQuery,   Point::kKey,
                                         Point::kValue,      Point::kContext, Point::kAttentionSum};
constexpr AttentionPoints kCrossPoints = {Point::kCrossInput,   Point::kCrossQuery,
                                          Point::kCrossKey,     Point::kCrossValue,
                                          Point::kCrossContext, Point::kCrossSum};

// Room for the attention probabilities of one more chunk.
float* grow(std::vector<float>& probabilities, const AttentionInput& in) {
  std::size_t count = 0;
  for (std::size_t text = 0; text < in.query_lengths.size(); ++text) {
    count += in.heads * static_cast<std::size_t>(in.query_lengths[text]) *
             static_cast<std::size_t>(in.key_lengths[text]);
  }
  probabilities.resize(probabilities.size() + count);
  return probabilities.data() + probabilities.size() - count;
}

}  // namespace

FloatStack::Attention::Attention(const AttentionWeights& weights)
    : query(weights.query),
      key(weights.key),
      value(weights.value),
      out(weights.out),
      distances(weights.distance_embedding) {}

FloatStack::Layer::Layer(const LayerWeights& weights)
    : input_norm(weights.input_norm),
      attention(weights.attention),
      cross_norm(weights.cross_norm),
      ffn_norm(weights.ffn_norm),
      ffn_up(weights.ffn_up),
      ffn_down(weights.ffn_down) {
  if (weights.cross) cross.emplace(*weights.cross);
}

FloatStack::FloatStack(const StackConfig& config, const StackWeights& weights, int number)
    : config_(config),
      number_(number),
      word_(weights.word_embeddings),
      position_(weights.position_embeddings),
      token_type_(weights.token_type_embeddings),
      output_norm_(weights.final_norm) {
  for (const LayerWeights& layer : weights.layers) layers_.emplace_back(layer);
}

const float* FloatStack::run(const BatchChunk& chunk, const ForwardOptions& options,
                             const Observer* observer, pthreadpool_t pool, ForwardOutput& out) {
  const auto hidden = static_cast<std::size_t>(config_.hidden_size);
  Pass pass{chunk,
            options,
            {observer, number_, chunk.lengths},
            {observer, number_, chunk.source_lengths},
            pool,
            out,
            0,
            0};
  sum_ = buffers_[0].sized(chunk.rows * hidden);
  input_ = buffers_[1].sized(chunk.rows * hidden);
  block_ = buffers_[2].sized(chunk.rows * hidden);
  if (options.hidden_states) out.hidden_states.resize(layers_.size() + 1);
  if (options.attentions) {
    out.attentions.resize(layers_.size());
    if (config_.cross_attention) out.cross_attentions.resize(layers_.size());
  }

  embed(chunk, sum_);
  pass.viewer.show(Point::kEmbeddingSum, 0, sum_, chunk.rows, hidden);
  float* states = nullptr;  // [source rows, cross_hidden_size]
  if (config_.cross_attention) {
    const auto width = static_cast<std::size_t>(config_.cross_hidden_size);
    states = states_.sized(chunk.source_rows * width);
    std::copy_n(chunk.encoder_states, chunk.source_rows * width, states);
    pass.source_viewer.show(Point::kCrossStates, 0, states, chunk.source_rows, width);
  }
  for (Layer& layer : layers_) {
    normalize(pass, layer.input_norm ? &*layer.input_norm : nullptr);
    keep_hidden_state(pass);
    attend_block(pass, layer.attention, nullptr);
    if (layer.cross) {
      normalize(pass, &layer.cross_norm);
      attend_block(pass, *layer.cross, states);
    }
    normalize(pass, &layer.ffn_norm);
    feed_forward(pass, layer);
    pass.heads_before += static_cast<std::size_t>(
        config_.num_heads_of_layer[static_cast<std::size_t>(pass.layer++)]);
  }
  normalize(pass, &output_norm_);
  keep_hidden_state(pass);
  pass.viewer.show(Point::kLastHidden, pass.layer, input_, chunk.rows, hidden);
  out.last_hidden_state.insert(out.last_hidden_state.end(), input_, input_ + chunk.rows * hidden);
  return input_;
}

void FloatStack::embed(const BatchChunk& chunk, float* sums) const {
  std::size_t row = 0;
  const std::size_t hidden = token_type_.cols;
  for (const std::int32_t length : chunk.lengths) {
    for (std::int32_t place = 0; place < length; ++place, ++row, sums += hidden) {
      const auto type = chunk.type_ids == nullptr ? 0 : chunk.type_ids[row];
      const float* const w = chunk.inputs_embeds != nullptr
                                 ? chunk.inputs_embeds + row * hidden
                                 : word_.row(static_cast<std::size_t>(chunk.ids[row]));
      const float* const t = token_type_.row(static_cast<std::size_t>(type));
      for (std::size_t c = 0; c < hidden; ++c) sums[c] = w[c] + t[c];
      if (config_.position_kind != PositionKind::kAbsolute) continue;
      const auto position = chunk.position_ids == nullptr ? place : chunk.position_ids[row];
      const float* const p = position_.row(static_cast<std::size_t>(position));
      for (std::size_t c = 0; c < hidden; ++c) sums[c] += p[c];
    }
  }
}

// input = norm(sum), or the sum itself without a norm.
void FloatStack::normalize(const Pass& pass, const LayerNorm* norm) {
  if (norm != nullptr) {
    layer_norm_rows(pass.pool, sum_, *norm, config_.layer_norm_eps, pass.chunk.rows, input_);
  } else {
    std::copy_n(sum_, pass.chunk.rows * static_cast<std::size_t>(config_.hidden_size), input_);
  }
}

// sum = block + input of the block, or block + sum in pre-LayerNorm stacks.
void FloatStack::add_residual(const Pass& pass) {
  const bool pre = config_.norm_position == NormPosition::kPre;
  add_values(pass.pool, block_, pre ? sum_ : input_,
             pass.chunk.rows * static_cast<std::size_t>(config_.hidden_size));
  std::swap(sum_, block_);
}

void FloatStack::attend_block(const Pass& pass, Attention& weights, const float* states) {
  const BatchChunk& chunk = pass.chunk;
  const bool cross = states != nullptr;
  const AttentionPoints& points = cross ? kCrossPoints : kSelfPoints;
  const Viewer& key_viewer = cross ? pass.source_viewer : pass.viewer;
  const auto hidden = static_cast<std::size_t>(config_.hidden_size);
  const std::size_t width = weights.query.outputs();  // heads * head size
  const std::size_t rows = chunk.rows, key_rows = cross ? chunk.source_rows : rows;
  const float* const source = cross ? states : input_;
  float* const q = query_.sized(rows * width);
  float* const k = key_.sized(key_rows * width);
  float* const v = value_.sized(key_rows * width);
  float* const context = context_.sized(rows * width);

  pass.viewer.show(points.input, pass.layer, input_, rows, hidden);
  weights.query.run(input_, rows, q, pass.pool);
  weights.key.run(source, key_rows, k, pass.pool);
  weights.value.run(source, key_rows, v, pass.pool);
  pass.viewer.show(points.query, pass.layer, q, rows, width);
  key_viewer.show(points.key, pass.layer, k, key_rows, width);
  key_viewer.show(points.value, pass.layer, v, key_rows, width);

  AttentionInput in;
  in.query = q;
  in.key = k;
  in.value = v;
  in.query_lengths = chunk.lengths;
  in.key_lengths = cross ? chunk.source_lengths : chunk.lengths;
  in.head_size = static_cast<std::size_t>(config_.head_size());
  in.heads = width / in.head_size;
  if (weights.distances.rows > 0) {
    in.position_kind = config_.position_kind;
    in.distances = &weights.distances;
  }
  in.causal = config_.is_decoder && !cross;
  in.key_mask = cross ? chunk.source_key_mask : chunk.key_mask;
  in.query_key_mask = cross ? chunk.source_query_key_mask : chunk.query_key_mask;
  in.head_mask = chunk.head_mask == nullptr ? nullptr : chunk.head_mask + pass.heads_before;
  float* probabilities = nullptr;
  if (pass.options.attentions) {
    auto& of_layers = cross ? pass.out.cross_attentions : pass.out.attentions;
    probabilities = grow(of_layers[static_cast<std::size_t>(pass.layer)], in);
  }
  attend(pass.pool, in, context, probabilities);
  pass.viewer.show(points.context, pass.layer, context, rows, width);
  weights.out.run(context, rows, block_, pass.pool);
  add_residual(pass);
  pass.viewer.show(points.sum, pass.layer, sum_, rows, hidden);
}

void FloatStack::feed_forward(const Pass& pass, Layer& layer) {
  const std::size_t rows = pass.chunk.rows;
  const auto hidden = static_cast<std::size_t>(config_.hidden_size);
  const auto inner = static_cast<std::size_t>(config_.intermediate_size);
  float* const activated = inner_.sized(rows * inner);

  pass.viewer.show(Point::kFfnInput, pass.layer, input_, rows, hidden);
  layer.ffn_up.run(input_, rows, activated, pass.pool);
  pass.viewer.show(Point::kFfnPreactivation, pass.layer, activated, rows, inner);
  apply_activation(pass.pool, config_.hidden_act, activated, rows * inner);
  pass.viewer.show(Point::kFfnActivated, pass.layer, activated, rows, inner);
  layer.ffn_down.run(activated, rows, block_, pass.pool);
  add_residual(pass);
  pass.viewer.show(Point::kFfnSum, pass.layer, sum_, rows, hidden);
}

void FloatStack::keep_hidden_state(const Pass& pass) const {
  if (!pass.options.hidden_states) return;
  const float* const state = config_.norm_position == NormPosition::kPre ? sum_ : input_;
  std::vector<float>& kept = pass.out.hidden_states[static_cast<std::size_t>(pass.layer)];
  kept.insert(kept.end(), state,
              state + pass.chunk.rows * static_cast<std::size_t>(config_.hidden_size));
}

}  // namespace embert::convert
