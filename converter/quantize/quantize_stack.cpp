// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/quantize_stack.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "converter/model/rotary_angles.hpp"
#include "converter/quantize/encode_integers.hpp"
#include "converter/quantize/layer/assemble_attention.hpp"
#include "converter/quantize/layer/choose_scales.hpp"
#include "converter/quantize/layer/quantize_score_bias.hpp"
#include "converter/quantize/quantize_embeddings.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert::convert {
namespace {

// The blob holds float32 scales: compute with the same values.
double as_float32(double x) { return static_cast<double>(static_cast<float>(x)); }
std::uint32_t float_bits(double x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); }

// Layers that are not those of BERT.
bool needs_bottleneck_section(const StackConfig& config) {
  return config.has_bottleneck() || config.num_ffns > 1 || !config.layer_norms;
}

BlobStack stack_record(const StackScales& scales, double sum_scale) {
  const StackConfig& config = scales.source.config;
  BlobStack record{};
  if (config.is_decoder) record.flags |= kStackCausal;
  if (config.cross_attention) record.flags |= kStackCrossAttention;
  if (config.norm_position == NormPosition::kPre) {
    record.flags |= kStackPreNorm;
    if (config.embedding_layer_norm) record.flags |= kStackEmbeddingNorm;
  }
  if (config.rotary) record.flags |= kStackRotary;
  if (config.local_attention) record.flags |= kStackLocalAttention;
  if (config.gated_ffn) record.flags |= kStackGatedFfn;
  if (config.padding_position_id >= 0) record.flags |= kStackPaddingPosition;
  if (config.score_bias) record.flags |= kStackScoreBias;
  if (config.has_embedding_projection()) record.flags |= kStackEmbeddingProjection;
  if (!config.weights_of_layer.empty()) record.flags |= kStackSharedLayers;
  if (config.has_word_projection()) record.flags |= kStackWordProjection;
  if (needs_bottleneck_section(config)) record.flags |= kStackBottleneck;
  record.hidden_size = static_cast<std::uint32_t>(config.hidden_size);
  record.head_size = static_cast<std::uint32_t>(config.head_size());
  record.vocab_size = static_cast<std::uint32_t>(config.vocab_size);
  record.max_positions = static_cast<std::uint32_t>(config.max_position_embeddings);
  record.type_vocab_size = static_cast<std::uint32_t>(config.type_vocab_size);
  record.activation = static_cast<std::uint32_t>(config.hidden_act);
  record.position_kind = static_cast<std::uint32_t>(config.position_kind);
  record.cross_hidden_size = static_cast<std::uint32_t>(config.cross_hidden_size);
  record.embedding_scale = float_bits(scales.embedding_scale);
  record.cross_scale = float_bits(scales.source.cross_scale);
  record.hidden_scale = float_bits(scales.hidden_scale);
  record.sum_scale = float_bits(sum_scale);
  return record;
}

// Turned queries and keys of every head have the same factor: their 16-bit scale is 1 /
// kRotaryFineness of the 8-bit one.
QuantizedRotary quantize_rotary(const StackConfig& config) {
  QuantizedRotary out;
  const auto head_size = static_cast<std::size_t>(config.head_size());
  const std::vector<double> factors(head_size, 1 / kRotaryFineness);
  EncodedFactors encoded = encode_factors(factors, "rotary positions");
  const auto [theta, local_theta] = *config.rotary;
  out.record.tables = config.local_attention && theta != local_theta ? 2 : 1;
  out.record.shifts = encoded.shifts;
  out.multipliers = std::move(encoded.multipliers);
  out.multipliers.resize(pad_columns(head_size));
  for (std::uint32_t table = 0; table < out.record.tables; ++table) {
    for (const float x : rotary_angles(config, table == 0 ? theta : local_theta).data) {
      out.angles.push_back(static_cast<std::int16_t>(
          encode_integer(static_cast<double>(x) * kMaxRotaryAngle, kMaxRotaryAngle, "angle")));
    }
  }
  return out;
}

// The LayerNorms that make the input of these weights, in the order of the layers.
std::vector<const LayerNorm*> input_norms(const StackSource& source, std::size_t weights) {
  std::vector<const LayerNorm*> norms;
  for (std::size_t l = 0; l < source.weights.input_norms.size(); ++l) {
    const std::optional<LayerNorm>& norm = source.weights.input_norms[l];
    if (norm && source.config.weights_of(l) == weights) norms.push_back(&*norm);
  }
  return norms;
}

// How the first layer's input lies in 16 bits: one 8-bit code stands for 128 units.
ChannelQuant first_input(const StackScales& scales) {
  ChannelQuant input = scales.layers.front().input;
  input.scale /= 128;
  return input;
}

// How the sum of projected words, positions and segments lies in 16 bits: with one scale for a
// LayerNorm that reads it, else as the first layer's input.
ChannelQuant sum_quant(const StackScales& scales) {
  if (!scales.source.config.layer_norms) return first_input(scales);
  return per_tensor_quant(static_cast<std::size_t>(scales.source.config.hidden_size),
                          scales.sum_scale);
}

QuantizedProjection quantize_projection(const StackScales& scales,
                                        const Dense16Rounding& rounding) {
  const auto& [config, weights, ranges, cross_scale, prefix, precision] = scales.source;
  const EmbeddingProjection& projection = *weights.projection;
  const Matrix& rows = ranges.embedding_rows;
  const double scale = std::max(2 * static_cast<double>(largest_magnitude(rows.data)) / 32767,
                                least_norm_scale(projection.norm, per_tensor_quant(rows.cols, 1)));
  const ChannelQuant input = first_input(scales);
  QuantizedProjection out;
  out.norm = encode_norm({.norm = projection.norm,
                          .output = per_tensor_quant(rows.cols, scale),
                          .input_scale = scales.embedding_scale,
                          .epsilon = config.layer_norm_eps,
                          .name = prefix + "embeddings LayerNorm"});
  out.dense = quantize_dense16({.linear = projection.dense,
                                .rows = rows,
                                .input_scale = scale,
                                .output_scale = 0,
                                .name = prefix + "embedding_projection",
                                .output = &input},
                               rounding);
  return out;
}

// The sum that makes the first layer's input: one scale for a LayerNorm that reads it, else that of
// each channel.
QuantizedWordProjection quantize_word_projection(const StackScales& scales,
                                                 const Dense16Rounding& rounding) {
  const auto& [config, weights, ranges, cross_scale, prefix, precision] = scales.source;
  const ChannelQuant input = sum_quant(scales);
  QuantizedDense16 dense = quantize_dense16({.linear = *weights.word_projection,
                                             .rows = ranges.word_rows,
                                             .input_scale = scales.embedding_scale,
                                             .output_scale = 0,
                                             .name = prefix + "word_projection",
                                             .output = &input},
                                            rounding);
  QuantizedWordProjection out;
  out.record.word_size = static_cast<std::uint32_t>(config.word_size());
  out.record.words = config.trigrams ? 3 : 1;
  out.record.dense = dense.record;
  out.dense = std::move(dense.dense);
  return out;
}

// The input norms of all layers, and where layers share weights which layer has the sections of
// each. A norm follows from the weights before it and behind it, so layers may share it, too.
void assemble_input_norms(const StackScales& scales, const std::vector<double>& sum_scales,
                          QuantizedStack& out) {
  const auto& [config, weights, ranges, cross_scale, prefix, precision] = scales.source;
  const std::size_t layers = weights.input_norms.size();
  const auto same_norm = [&stack = config](std::size_t a, std::size_t b) {
    return a > 0 && stack.weights_of(a) == stack.weights_of(b) &&
           stack.weights_of(a - 1) == stack.weights_of(b - 1);
  };
  for (std::size_t l = 0; l < layers; ++l) {
    BlobSharedLayer use = {static_cast<std::uint32_t>(l), static_cast<std::uint32_t>(l)};
    for (std::size_t other = l; other-- > 0;) {
      if (config.weights_of(other) == config.weights_of(l))
        use.layer = static_cast<std::uint32_t>(other);
      if (same_norm(other, l)) use.input_norm = static_cast<std::uint32_t>(other);
    }
    if (!config.weights_of_layer.empty()) out.shared.push_back(use);
    QuantizedNorm& norm = out.input_norms.emplace_back();
    if (!weights.input_norms[l] || use.input_norm != l) continue;
    ChannelQuant output = scales.layers[config.weights_of(l)].input;
    output.scale /= 128;  // of the norm's 16-bit output
    norm = encode_norm(
        {.norm = *weights.input_norms[l],
         .output = std::move(output),
         .input_scale = l == 0 ? scales.sum_scale : sum_scales[config.weights_of(l - 1)],
         .epsilon = weights.input_norms[l]->eps_or(config.layer_norm_eps),
         .name = prefix + "encoder.layer." + std::to_string(l) + " input LayerNorm"});
  }
}

// Column groups and copied inputs of all layers, where one has them.
void add_planes(const StackConfig& config, QuantizedStack& out) {
  const auto has_groups = [](const QuantizedLayer& layer) {
    return layer.ffn_down_second.outputs > 0;
  };
  if (!std::ranges::any_of(out.layers, [&](const QuantizedLayer& layer) {
        return has_groups(layer) || !layer.copied_inputs.empty();
      })) {
    return;
  }
  out.record.flags |= kStackPlanes;
  for (std::size_t l = 0; l < out.input_norms.size(); ++l) {
    const QuantizedLayer& layer = out.layers[config.weights_of(l)];
    BlobPlanes& planes = out.planes.emplace_back();
    if (has_groups(layer)) {
      planes.first_columns = static_cast<std::uint16_t>(layer.ffn_down.inputs);
    }
    planes.copied_inputs = static_cast<std::uint8_t>(layer.copied_inputs.size());
    out.copied_inputs.insert(out.copied_inputs.end(), layer.copied_inputs.begin(),
                             layer.copied_inputs.end());
  }
}

}  // namespace

StackScales choose_stack_scales(const StackSource& source, std::vector<std::string>& warnings) {
  const StackWeights& weights = source.weights;
  const auto hidden = static_cast<std::size_t>(source.config.hidden_size);
  StackScales scales{.source = source, .sources = {}, .layers = {}};
  const double sum_scale = embedding_sum_scale(source.config, weights, source.ranges);
  if (weights.word_projection) {
    scales.embedding_scale = as_float32(word_scale(weights));
    scales.sum_scale = sum_scale;
  } else {
    scales.embedding_scale = scales.sum_scale = as_float32(sum_scale);
  }
  scales.hidden_scale = 2 * static_cast<double>(source.ranges.last_hidden) / 32767;
  if (weights.final_norm.is_there()) {
    scales.hidden_scale = std::max(
        scales.hidden_scale, least_norm_scale(weights.final_norm, per_tensor_quant(hidden, 1)));
  }
  scales.hidden_scale = as_float32(usable_scale(scales.hidden_scale));
  for (std::size_t l = 0; l < weights.layers.size(); ++l) {
    scales.sources.push_back({.config = source.config,
                              .weights = weights.layers[l],
                              .ranges = source.ranges.layers[l],
                              .input_norms = input_norms(source, l),
                              .reads_embedding_sum = l == 0 && !weights.input_norms[0] &&
                                                     !weights.projection &&
                                                     !weights.word_projection,
                              .name = source.prefix + "encoder.layer." + std::to_string(l),
                              .embedding_scale = scales.embedding_scale,
                              .cross_scale = source.cross_scale,
                              .score_bias = weights.score_bias,
                              .cross_rows = source.ranges.cross_rows,
                              .adds_to_input = source.config.adds_to_input(static_cast<int>(l)),
                              .precision = source.precision});
    scales.layers.push_back(choose_layer_scales(scales.sources[l], warnings));
  }
  if (weights.word_projection && !source.config.layer_norms) {
    make_room_for_tables(weights, scales.layers.front().input);
  }
  return scales;
}

QuantizedStack assemble_stack(const StackScales& scales, const std::vector<RoundedLayer>& layers,
                              const Dense16Rounding& rounding, std::vector<LayerErrors>& errors) {
  const StackConfig& config = scales.source.config;
  const StackWeights& weights = scales.source.weights;
  QuantizedStack out;
  if (config.rotary) out.rotary = quantize_rotary(config);
  if (config.local_attention) {
    out.local_attention = BlobLocalAttention{
        .period = std::min<std::uint32_t>(
            static_cast<std::uint32_t>(config.local_attention->period), kMaxLayers),
        .reach = std::min<std::uint32_t>(static_cast<std::uint32_t>(config.local_attention->reach),
                                         kMaxPositions - 1)};
  }
  quantize_words(weights.word_embeddings, scales.embedding_scale, out);
  if (weights.word_projection) {
    out.word_projection = quantize_word_projection(scales, rounding);
    quantize_tables(config, weights, sum_quant(scales), out);
  } else {
    const auto width = static_cast<std::size_t>(config.embedding_size());
    quantize_tables(config, weights, per_tensor_quant(width, scales.embedding_scale), out);
  }
  if (needs_bottleneck_section(config)) {
    out.bottleneck = BlobBottleneck{.intra_size = static_cast<std::uint32_t>(config.intra_size()),
                                    .num_ffns = static_cast<std::uint32_t>(config.num_ffns),
                                    .kind = static_cast<std::uint32_t>(config.bottleneck),
                                    .reserved = 0};
  }
  if (config.padding_position_id >= 0) {
    out.padding_id = static_cast<std::uint32_t>(config.padding_position_id);
  }
  out.score_bias = quantize_score_bias(weights.score_bias);
  if (weights.projection) out.projection = quantize_projection(scales, rounding);
  double sum_scale = scales.sum_scale;
  const auto hidden = static_cast<std::size_t>(config.hidden_size);
  const ChannelQuant last_output = per_tensor_quant(hidden, 128 * scales.hidden_scale);
  std::vector<double> sum_scales;  // behind each layer's weights
  for (std::size_t l = 0; l < layers.size(); ++l) {
    AssembledLayer layer =
        assemble_layer(scales.sources[l], scales.layers[l], layers[l], sum_scale,
                       l + 1 < layers.size() ? scales.layers[l + 1].input : last_output);
    sum_scale = layer.sum_scale;
    if (config.gated_ffn) out.gated_ffn.push_back({.shift = scales.layers[l].gate_shift});
    sum_scales.push_back(sum_scale);
    out.layers.push_back(std::move(layer.layer));
    // The largest of the layer's feed-forward networks.
    const auto error = [&](LayerPart part) {
      double most = 0;
      for (const RoundedDense& dense : layers[l].parts[static_cast<std::size_t>(part)]) {
        most = std::max(most, dense.relative_error);
      }
      return most;
    };
    errors.push_back({.qkv = error(LayerPart::kQkv),
                      .attn_out = error(LayerPart::kAttnOut),
                      .ffn_up = error(LayerPart::kFfnUp),
                      .ffn_down = error(LayerPart::kFfnDown),
                      .cross_query = error(LayerPart::kCrossQuery),
                      .cross_key_value = error(LayerPart::kCrossKeyValue),
                      .cross_out = error(LayerPart::kCrossOut),
                      .copies = layer.copies});
  }
  assemble_input_norms(scales, sum_scales, out);
  sum_scale = sum_scales[config.weights_of(weights.input_norms.size() - 1)];
  out.record = stack_record(scales, sum_scale);
  add_planes(config, out);
  if (!weights.final_norm.is_there()) return out;
  out.final_norm = encode_norm({.norm = weights.final_norm,
                                .output = per_tensor_quant(hidden, scales.hidden_scale),
                                .input_scale = sum_scale,
                                .epsilon = weights.final_norm.eps_or(config.layer_norm_eps),
                                .name = "last LayerNorm"});
  return out;
}

}  // namespace embert::convert
