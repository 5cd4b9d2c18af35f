// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/quantize_model.hpp"

#include <algorithm>
#include <utility>

#include "converter/calibrate/collect_rows.hpp"
#include "converter/calibrate/input_ranges.hpp"
#include "converter/calibrate/measure_ranges.hpp"
#include "converter/convert_error.hpp"
#include "converter/quantize/quantize_stack.hpp"
#include "converter/quantize/quantize_static.hpp"
#include "converter/quantize/task_heads/quantize_lm.hpp"
#include "converter/quantize/task_heads/quantize_task_heads.hpp"
#include "converter/workers.hpp"

namespace embert::convert {
namespace {

// Headroom above the calibrated states of an encoder that the folder does not hold: those states
// are random and say little about real ones, and 16 bits have room for it.
constexpr double kForeignHeadroom = 8;

std::uint32_t blob_id(int id) { return id < 0 ? UINT32_MAX : static_cast<std::uint32_t>(id); }

// Scale of the states that the next stack's cross-attention reads. `before`: the scales of the
// stacks before it, the encoder or none.
double choose_cross_scale(const QuantizeSource& source, const CalibrationRanges& ranges,
                          const std::vector<StackScales>& before) {
  if (!source.config.last().cross_attention) return 0;
  const bool lone = source.config.stacks.size() == 1;
  if (!lone && before.empty()) return 0;
  if (!lone && !source.weights.projection) return before.front().hidden_scale;
  const double reach = lone ? kForeignHeadroom * static_cast<double>(ranges.stacks[0].cross_states)
                            : 2 * static_cast<double>(ranges.heads.projected);
  return static_cast<double>(static_cast<float>(usable_scale(reach / 32767)));
}

std::vector<StackScales> choose_scales(const QuantizeSource& source, Precision precision,
                                       const CalibrationRanges& ranges,
                                       std::vector<std::string>& warnings) {
  std::vector<StackScales> scales;
  const std::optional<Precision> precision_of_stacks =
      why_no_planes(source.config).empty() ? std::optional(precision) : std::nullopt;
  const bool pair = source.config.stacks.size() == 2;
  for (std::size_t s = 0; s < source.config.stacks.size(); ++s) {
    scales.push_back(choose_stack_scales({.config = source.config.stacks[s],
                                          .weights = source.weights.stacks[s],
                                          .ranges = ranges.stacks[s],
                                          .cross_scale = choose_cross_scale(source, ranges, scales),
                                          .prefix = !pair    ? ""
                                                    : s == 0 ? "encoder."
                                                             : "decoder.",
                                          .precision = precision_of_stacks},
                                         warnings));
  }
  return scales;
}

// Rounds all parts of all layers. The costliest kind goes first, so that threads finish together.
std::vector<std::vector<RoundedLayer>> round_layers(const std::vector<StackScales>& scales,
                                                    std::vector<std::vector<LayerRows>>& rows,
                                                    Rounding rounding, Workers& workers) {
  constexpr LayerPart kByCost[] = {LayerPart::kFfnDown,
                                   LayerPart::kFfnUp,
                                   LayerPart::kQkv,
                                   LayerPart::kCrossKeyValue,
                                   LayerPart::kAttnOut,
                                   LayerPart::kCrossQuery,
                                   LayerPart::kCrossOut,
                                   LayerPart::kValue,
                                   LayerPart::kBottleneckInput,
                                   LayerPart::kBottleneckQueryKey,
                                   LayerPart::kBottleneckOutput};
  struct Task {
    std::size_t stack, layer;
    LayerDense dense;
  };
  std::vector<Task> tasks;
  std::vector<std::vector<RoundedLayer>> rounded;
  for (const StackScales& stack : scales) {
    std::vector<RoundedLayer>& layers = rounded.emplace_back();
    for (const LayerSource& source : stack.sources) layers.push_back(unrounded_layer(source));
  }
  for (const LayerPart part : kByCost) {
    for (std::size_t s = 0; s < scales.size(); ++s) {
      for (std::size_t l = 0; l < scales[s].sources.size(); ++l) {
        for (const LayerDense dense : dense_of_layer(scales[s].sources[l])) {
          if (dense.part == part) tasks.push_back({.stack = s, .layer = l, .dense = dense});
        }
      }
    }
  }
  workers.run(tasks.size(), [&](std::size_t number) {
    const auto [s, l, dense] = tasks[number];
    rounded[s][l].at(dense) =
        round_layer_part(scales[s].sources[l], scales[s].layers[l], dense, rows[s][l], rounding);
  });
  return rounded;
}

void collect_warnings(const std::vector<std::vector<RoundedLayer>>& stacks,
                      std::vector<std::string>& warnings) {
  for (const std::vector<RoundedLayer>& layers : stacks) {
    for (const RoundedLayer& layer : layers) {
      for (const std::vector<RoundedDense>& parts : layer.parts) {
        for (const RoundedDense& part : parts) {
          if (!part.codes.warning.empty()) warnings.push_back(part.codes.warning);
        }
      }
    }
  }
}

// Refuses models that the format cannot hold.
void require_expressible(const ModelConfig& config) {
  for (const StackConfig& stack : config.stacks) {
    const bool pruned = std::ranges::any_of(
        stack.num_heads_of_layer, [&](int heads) { return heads != stack.num_attention_heads; });
    if (pruned && stack.cross_attention) {
      throw ConvertError(
          "config.json: pruned_heads in a decoder with cross-attention: its layers would have two "
          "numbers of heads, which is not supported");
    }
  }
}

}  // namespace

QuantizeResult quantize_model(const QuantizeSource& source, const QuantizeOptions& options,
                              Workers& workers, const Progress& progress) {
  const auto& [config, weights, floats, batch] = source;
  const auto report = [&progress](const char* step, double done) {
    if (progress) progress(step, done);
  };
  require_expressible(config);
  QuantizeResult result;
  QuantizedModel& out = result.model;
  if (config.last().is_static) {
    out.stacks.push_back(quantize_static(config.last(), weights.stacks.back()));
    return result;
  }

  report("measuring ranges", 0.0);
  CalibrationRanges ranges = measure_ranges(floats, config, batch);
  result.ranges = input_ranges(ranges);
  add_headroom(ranges, options.headroom);
  const std::vector<StackScales> scales =
      choose_scales(source, options.precision, ranges, result.warnings);

  report("collecting rows", 0.25);
  const std::size_t max_rows = options.max_rows > 0 ? options.max_rows : affordable_rows(config);
  std::vector<std::vector<LayerScales>> layer_scales;
  for (const StackScales& stack : scales) layer_scales.push_back(stack.layers);
  std::vector<std::vector<LayerRows>> rows =
      collect_rows(floats, config, layer_scales, batch, max_rows);

  report("rounding weights", 0.5);
  const auto rounded = round_layers(scales, rows, options.rounding, workers);
  collect_warnings(rounded, result.warnings);

  report("assembling", 0.95);
  const Dense16Rounding rounding{
      .rounding = options.rounding, .errors = result.heads, .warnings = result.warnings};
  for (std::size_t s = 0; s < scales.size(); ++s) {
    out.stacks.push_back(assemble_stack(scales[s], rounded[s], rounding, result.layers));
  }
  const double hidden_scale = scales.back().hidden_scale;
  if (weights.projection) {
    out.projection = quantize_dense16({.linear = *weights.projection,
                                       .rows = ranges.heads.encoder_hidden,
                                       .input_scale = scales.front().hidden_scale,
                                       .output_scale = scales.back().source.cross_scale,
                                       .name = "projection"},
                                      rounding);
  }
  quantize_task_heads(
      {.config = config, .weights = weights, .ranges = ranges.heads, .hidden_scale = hidden_scale},
      rounding, out);
  if (weights.language_head) {
    out.lm = quantize_lm({.config = config.last(),
                          .word_embeddings = weights.stacks.back().word_embeddings,
                          .stack = out.stacks.back(),
                          .head = *weights.language_head,
                          .act = config.language_act,
                          .ranges = ranges.heads,
                          .hidden_scale = hidden_scale},
                         rounding);
  }
  out.start_id = blob_id(config.decoder_start_token_id);
  out.end_id = blob_id(config.eos_token_id);
  report("assembling", 1.0);
  return result;
}

}  // namespace embert::convert
