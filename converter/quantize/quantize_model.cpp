// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/quantize_model.hpp"

#include <algorithm>
#include <utility>

#include "converter/calibrate/collect_rows.hpp"
#include "converter/calibrate/measure_ranges.hpp"
#include "converter/convert_error.hpp"
#include "converter/quantize/quantize_lm.hpp"
#include "converter/reference/float_model.hpp"

namespace embert::convert {
namespace {

// Room above what calibration saw for states of an encoder that is not here. 16 bits have enough
// for it, and random states say little about real ones.
constexpr double kForeignReach = 8;

std::uint32_t blob_id(int id) { return id < 0 ? UINT32_MAX : static_cast<std::uint32_t>(id); }

// The step of the states that a stack's cross-attention reads, given that of the encoder before it.
double cross_step(const ModelConfig& config, const ModelWeights& weights,
                  const CalibrationRanges& ranges, const std::vector<StackPlan>& before) {
  if (!config.last().cross_attention) return 0;
  const bool lone = config.stacks.size() == 1;
  if (!lone && before.empty()) return 0;
  if (!lone && !weights.projection) return before.front().hidden_step;
  const double reach = lone ? kForeignReach * static_cast<double>(ranges.stacks[0].cross_states)
                            : 2 * static_cast<double>(ranges.heads.projected);
  return static_cast<double>(static_cast<float>(reach > 0 ? reach / 32767 : 1.0));
}

// Rounds all parts of all layers, the largest kind first so that threads finish together.
std::vector<std::vector<RoundedLayer>> round_layers(const std::vector<StackPlan>& plans,
                                                    std::vector<std::vector<LayerRows>>& rows,
                                                    Rounding rounding, Workers& workers) {
  constexpr LayerPart kByCost[] = {
      LayerPart::kFfn2,   LayerPart::kFfn1,       LayerPart::kQkv,        LayerPart::kCrossKeyValue,
      LayerPart::kOutput, LayerPart::kCrossQuery, LayerPart::kCrossOutput};
  struct Task {
    std::size_t stack, layer;
    LayerPart part;
  };
  std::vector<Task> tasks;
  std::vector<std::vector<RoundedLayer>> rounded;
  for (const StackPlan& plan : plans) rounded.emplace_back(plan.sources.size());
  for (const LayerPart part : kByCost) {
    for (std::size_t s = 0; s < plans.size(); ++s) {
      for (std::size_t l = 0; l < plans[s].sources.size(); ++l) {
        if (has_part(plans[s].sources[l], part)) tasks.push_back({s, l, part});
      }
    }
  }
  workers.run(tasks.size(), [&](std::size_t number) {
    const auto [s, l, part] = tasks[number];
    rounded[s][l][static_cast<std::size_t>(part)] =
        round_layer_part(plans[s].sources[l], plans[s].steps[l], part, rows[s][l], rounding);
  });
  return rounded;
}

// What the format has no place for.
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

QuantizeResult quantize_model(const ModelConfig& config, const ModelWeights& weights,
                              FloatModel& model, const ModelBatch& batch,
                              const QuantizeOptions& options, Workers& workers,
                              const Progress& progress) {
  const auto report = [&](const char* step, double done) {
    if (progress) progress(step, done);
  };
  require_expressible(config);
  QuantizeResult result;
  report("measuring ranges", 0.0);
  CalibrationRanges ranges = measure_ranges(model, config, batch);
  add_headroom(ranges, options.headroom);

  std::vector<StackPlan> plans;
  std::vector<std::vector<LayerScales>> steps;
  const bool pair = config.stacks.size() == 2;
  for (std::size_t s = 0; s < config.stacks.size(); ++s) {
    const std::string prefix = !pair ? "" : s == 0 ? "encoder." : "decoder.";
    plans.push_back(plan_stack(config.stacks[s], weights.stacks[s], ranges.stacks[s],
                               cross_step(config, weights, ranges, plans), prefix,
                               result.warnings));
    steps.push_back(plans.back().steps);
  }
  report("collecting rows", 0.25);
  const std::size_t max_rows = options.max_rows > 0 ? options.max_rows : affordable_rows(config);
  std::vector<std::vector<LayerRows>> rows = collect_rows(model, steps, batch, max_rows);
  report("rounding weights", 0.5);
  const auto rounded = round_layers(plans, rows, options.rounding, workers);
  for (const std::vector<RoundedLayer>& stack : rounded) {
    for (const RoundedLayer& layer : stack) {
      for (const RoundedDense& part : layer) {
        if (!part.codes.warning.empty()) result.warnings.push_back(part.codes.warning);
      }
    }
  }
  report("assembling", 0.95);
  QuantizedModel& out = result.model;
  for (std::size_t s = 0; s < plans.size(); ++s) {
    out.stacks.push_back(
        assemble_stack(config.stacks[s], weights.stacks[s], plans[s], rounded[s], result.layers));
  }
  const HeadReport heads{result.heads, result.warnings};
  const StackPlan& last = plans.back();
  if (weights.projection) {
    out.projection =
        quantize_head(*weights.projection, ranges.heads.encoder_hidden, plans.front().hidden_step,
                      last.cross_step, options.rounding, "projection", heads);
  }
  quantize_heads(config, weights, ranges.heads, last.hidden_step, options.rounding, out, heads);
  if (weights.language_head) {
    out.lm =
        quantize_lm(config.last(), *weights.language_head, weights.stacks.back().word_embeddings,
                    ranges.heads, out.stacks.back(), last.hidden_step, options.rounding, heads);
  }
  out.start_id = blob_id(config.decoder_start_token_id);
  out.end_id = blob_id(config.eos_token_id);
  report("assembling", 1.0);
  return result;
}

}  // namespace embert::convert
