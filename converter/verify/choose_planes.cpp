// SPDX-License-Identifier: Apache-2.0
// The model runs once with 16 bits in all inputs, then once for each of them with 8 bits in that
// one alone: its error against float32 grows by what 8 bits cost there. The distance of the two
// outputs does not show that. Any change in an early layer turns all roundings behind it, which
// moves the output by more than the layer's own error.
#include "converter/verify/choose_planes.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace embert::convert {
namespace {

// About so many tokens are measured; the built-in text has fewer than the first.
constexpr std::size_t kMeasuredTokens = 1 << 14, kFewTokens = 1 << 12;
constexpr std::size_t kTextsOfPart = 8;
constexpr double kCostTokens = 128;  // the text's length for which multiply-adds are counted
constexpr std::size_t kBlobAlignment = 64;

// Of multiply-adds. With AVX2 a second plane takes a third more time than the first. With planes
// everywhere `high` takes 2.4 times the time of `fast` on MiniLM, with this budget 2.1 times.
// Products of queries and keys of 16 bits are not counted: they come with QKV's planes, and are
// much of the work only where texts are long and the hidden size is small.
constexpr double kBalancedBudget = 0.08, kHighBudget = 0.86;
// Smaller changes of the error are luck of rounding. MiniLM's first tokens take away 7 %.
constexpr double kClearGain = 0.02;

// Exponentials of 14 bits do not go with every multiplier of a layer's scores.
bool may_have_probabilities(const QuantizedLayer& layer) {
  return std::ranges::all_of(layer.self.score_multipliers, [](std::uint32_t multiplier) {
    return multiplier >= kMinScoreMultiplier14 && multiplier <= kMaxScoreMultiplier14;
  });
}

// Queries and keys of 16 bits: the rules of check_planes (runtime/model/optional_sections.cpp).
bool may_have_score_planes(const StackConfig& config, const QuantizedLayer& layer) {
  constexpr std::int32_t kMostLeft = 15 - 8;
  const BlobAttention& self = layer.record.self;
  return may_have_probabilities(layer) && !config.is_decoder && !config.rotary &&
         !layer.relative_positions && layer.bias_ratio.empty() && self.query.left <= kMostLeft &&
         self.key.left <= kMostLeft;
}

// With 16 bits in every input, at `high` in queries and keys, too; what does not belong to rows
// stays.
std::vector<BlobPlanes> all_planes(const StackConfig& config, const QuantizedStack& stack,
                                   Precision precision) {
  std::vector<BlobPlanes> all = stack.planes;
  for (std::size_t l = 0; l < all.size(); ++l) {
    const QuantizedLayer& layer = stack.layers[config.weights_of(l)];
    all[l].qkv = all[l].attn_out = all[l].ffn_up = all[l].ffn_down = kPlanesAll;
    if (may_have_probabilities(layer)) all[l].probabilities = kPlanesAll;
    if (precision == Precision::kHigh && may_have_score_planes(config, layer)) {
      all[l].probabilities = kPlanesScores;
    }
  }
  return all;
}

// Queries and keys have 16 bits only beside values that do.
void drop_scores_without_qkv(BlobPlanes& planes) {
  if (planes.probabilities == kPlanesScores && planes.qkv != kPlanesAll) {
    planes.probabilities = kPlanesAll;
  }
}

// A blob in aligned memory. The runtime reads its planes in place: a change acts on the next run,
// in an arena for those that the blob was written with.
class PlanesBlob {
 public:
  explicit PlanesBlob(const std::vector<std::uint8_t>& blob)
      : memory_(blob.size() + kBlobAlignment), bytes_(blob.size()) {
    void* at = memory_.data();
    std::size_t room = memory_.size();
    data_ = static_cast<std::uint8_t*>(std::align(kBlobAlignment, bytes_, at, room));
    std::copy(blob.begin(), blob.end(), data_);
    BlobHeader header;
    std::memcpy(&header, data_, sizeof(header));
    for (std::size_t i = 0; i < header.section_count; ++i) {
      BlobSection section;
      std::memcpy(&section, data_ + sizeof(header) + i * sizeof(section), sizeof(section));
      if (section.kind == kSectionPlanes) planes_ = section.offset;
    }
  }

  std::span<const std::uint8_t> bytes() const { return {data_, bytes_}; }
  void set(const std::vector<BlobPlanes>& planes) {
    std::memcpy(data_ + planes_, planes.data(), planes.size() * sizeof(BlobPlanes));
  }

 private:
  std::vector<std::uint8_t> memory_;
  std::size_t bytes_;
  std::uint8_t* data_ = nullptr;
  std::uint64_t planes_ = 0;
};

// Runs the blob on calibration texts.
class Measurement {
 public:
  Measurement(const PlaneSource& source, PlanesBlob& blob, std::size_t tokens)
      : config_(source.floats.folder.config),
        compared_(Comparison(config_).compared()),
        blob_(blob),
        integers_(blob.bytes(), source.integers) {
    const std::size_t step = source.batch.texts.ids.size() / tokens + 1;
    const std::vector<ModelBatch> parts = cut_batch(source.batch, kTextsOfPart);
    for (std::size_t i = 0; i < parts.size(); i += step) {
      references_.push_back(float_output(source.floats, compared_, parts[i]));
      parts_.push_back(parts[i]);
    }
  }

  // VerifyResult::error.
  double error_with(const std::vector<BlobPlanes>& planes) {
    blob_.set(planes);
    Comparison comparison(config_);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      add_texts({references_[i], integer_output(integers_, compared_, parts_[i])}, parts_[i].texts,
                comparison);
    }
    return comparison.take({.worst = 0}).error;
  }

 private:
  const ModelConfig& config_;
  Compared compared_;
  PlanesBlob& blob_;
  IntegerModel integers_;
  std::vector<ModelBatch> parts_;
  std::vector<std::vector<double>> references_;  // of parts_
};

// Multiply-adds of a layer for a token.
struct LayerCost {
  double qkv, attn_out, ffn_up, ffn_down;
  double scores, context;  // the products with keys, and with both planes of the values
  double score_planes;     // more products with keys where these and queries have 16 bits
  double copies;           // of inputs that ffn_up reads again

  double all() const { return qkv + attn_out + ffn_up + ffn_down + scores + context; }
};

LayerCost cost_of(const StackConfig& config, const QuantizedStack& stack, std::size_t layer) {
  const double hidden = config.hidden_size;
  const double width = config.head_size() * config.num_heads_of_layer[layer];
  const double up = (config.gated_ffn ? 2 : 1) * static_cast<double>(config.intermediate_size);
  const std::size_t copies = stack.layers[config.weights_of(layer)].copied_inputs.size();
  return {.qkv = 3 * width * hidden,
          .attn_out = width * hidden,
          .ffn_up = up * hidden,
          .ffn_down = config.intermediate_size * hidden,
          .scores = kCostTokens * width,
          .context = 2 * kCostTokens * width,
          .score_planes = 3 * kCostTokens * width,
          .copies = up * static_cast<double>(copies)};
}

// Without copies.
double cost_of_layers(const StackConfig& config, const QuantizedStack& stack) {
  double sum = 0;
  for (std::size_t l = 0; l < config.num_heads_of_layer.size(); ++l) {
    sum += cost_of(config, stack, l).all();
  }
  return sum;
}

// One more plane for an input.
struct Step {
  std::size_t layer;
  std::uint8_t BlobPlanes::*input;
  BlobPlaneRows rows;
  double error;  // that it takes away
  double cost;   // share of the model's multiply-adds

  double worth() const { return error / cost; }
};

double& error_of(LayerPrecision& layer, const Step& step) {
  if (step.input == &BlobPlanes::attn_out) return layer.attn_out;
  if (step.input == &BlobPlanes::ffn_up) return layer.ffn_up;
  if (step.input == &BlobPlanes::ffn_down) return layer.ffn_down;
  if (step.input == &BlobPlanes::probabilities) return layer.probabilities;
  return step.rows == kPlanesFirst ? layer.first : layer.qkv;
}

// `most`: with 16 bits in every input. The stack has the planes that `fast` takes.
std::vector<Step> measure_steps(const StackConfig& config, const QuantizedStack& stack,
                                const std::vector<BlobPlanes>& most, Measurement& measurement) {
  std::vector<BlobPlanes> planes = most;
  const std::size_t layers = planes.size();
  const double whole = cost_of_layers(config, stack);
  const double least = measurement.error_with(planes);
  std::vector<Step> steps;
  for (std::size_t l = 0; l < layers; ++l) {
    const auto error_with = [&](std::uint8_t BlobPlanes::*input, BlobPlaneRows rows) {
      planes[l].*input = rows;
      drop_scores_without_qkv(planes[l]);
      const double error = measurement.error_with(planes) - least;
      planes[l] = most[l];
      return error;
    };
    const LayerCost cost = cost_of(config, stack, l);
    const double none = error_with(&BlobPlanes::qkv, kPlanesNone);
    const double first = error_with(&BlobPlanes::qkv, kPlanesFirst);
    const double qkv = cost.qkv / whole;
    const Step to_first = {.layer = l,
                           .input = &BlobPlanes::qkv,
                           .rows = kPlanesFirst,
                           .error = none - first,
                           .cost = qkv / kCostTokens};
    Step to_all = {.layer = l,
                   .input = &BlobPlanes::qkv,
                   .rows = kPlanesAll,
                   .error = first,
                   .cost = qkv - to_first.cost};
    // The first token alone is a step where it is worth more than the others.
    if (stack.planes[l].qkv == kPlanesFirst || to_first.worth() > to_all.worth()) {
      steps.push_back(to_first);
    } else {
      to_all.error = none;
      to_all.cost = qkv;
    }
    steps.push_back(to_all);
    const auto add = [&](std::uint8_t BlobPlanes::*input, double macs) {
      steps.push_back({.layer = l,
                       .input = input,
                       .rows = kPlanesAll,
                       .error = error_with(input, kPlanesNone),
                       .cost = macs / whole});
    };
    add(&BlobPlanes::attn_out, cost.attn_out);
    add(&BlobPlanes::ffn_up, cost.ffn_up + cost.copies);
    add(&BlobPlanes::ffn_down, cost.ffn_down);
    add(&BlobPlanes::probabilities, cost.context);
  }
  return steps;
}

// Queries, keys and values of the first token cost next to nothing. They are worth it where
// attention uses that token as its sink; a comparison of the whole model shows it.
void choose_first_tokens(const PlaneSource& source, QuantizedModel& model) {
  std::vector<BlobPlanes>& planes = model.stacks.front().planes;
  std::vector<BlobPlanes> first = planes;
  for (BlobPlanes& layer : first) layer.qkv = kPlanesFirst;
  PlanesBlob blob(write_blob(model, source.extras));
  Measurement measurement(source, blob, kFewTokens);
  const double none = measurement.error_with(planes);
  if (measurement.error_with(first) < (1 - kClearGain) * none) planes = first;
}

// Gives planes to those inputs where they take away most of the error for a multiply-add, and
// reports them. On entry the stack has the planes of `fast`, and report.cost counts the copied
// inputs.
void spend_budget(const PlaneSource& source, Precision precision, QuantizedModel& model,
                  PrecisionReport& report) {
  const double budget = precision == Precision::kHigh ? kHighBudget : kBalancedBudget;
  const StackConfig& config = source.floats.folder.config.last();
  QuantizedStack& stack = model.stacks.front();
  const double whole = cost_of_layers(config, stack);
  report.layers.resize(stack.planes.size());
  for (std::size_t l = 0; l < stack.planes.size(); ++l) {
    if (stack.planes[l].qkv == kPlanesFirst) {
      report.cost += cost_of(config, stack, l).qkv / whole / kCostTokens;
    }
  }
  const std::vector<BlobPlanes> most = all_planes(config, stack, precision);
  const std::vector<BlobPlanes> fast = std::exchange(stack.planes, most);
  PlanesBlob blob(write_blob(model, source.extras));
  stack.planes = fast;
  Measurement measurement(source, blob, kMeasuredTokens);
  std::vector<Step> steps = measure_steps(config, stack, most, measurement);
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.worth() > b.worth(); });
  for (const Step& step : steps) {
    error_of(report.layers[step.layer], step) = step.error;
    std::uint8_t& rows = stack.planes[step.layer].*step.input;
    if (rows >= step.rows || step.error <= 0 || report.cost + step.cost > budget) continue;
    report.cost += step.cost;
    rows = step.rows;
  }
  for (std::size_t l = 0; l < stack.planes.size(); ++l) {
    BlobPlanes& planes = stack.planes[l];
    if (planes.probabilities != kPlanesNone) planes.probabilities = most[l].probabilities;
    drop_scores_without_qkv(planes);
    if (planes.probabilities == kPlanesScores) {
      report.cost += cost_of(config, stack, l).score_planes / whole;
    }
    report.layers[l].planes = planes;
  }
}

}  // namespace

PrecisionReport choose_planes(const PlaneSource& source, Precision precision,
                              QuantizedModel& model) {
  PrecisionReport report;
  report.precision = precision;
  const std::string reason = why_no_planes(source.floats.folder.config);
  if (!reason.empty()) {
    if (precision != Precision::kFast) report.not_applied = reason;
    return report;
  }
  const StackConfig& config = source.floats.folder.config.last();
  QuantizedStack& stack = model.stacks.front();
  const std::size_t layers = config.num_heads_of_layer.size();
  const double whole = cost_of_layers(config, stack);
  for (std::size_t l = 0; l < layers; ++l) report.cost += cost_of(config, stack, l).copies / whole;
  stack.record.flags |= kStackPlanes;
  stack.planes.resize(layers);  // those with column groups are there
  // Higher levels take no less: what `fast` takes is worth it on all models measured.
  choose_first_tokens(source, model);
  if (precision != Precision::kFast) spend_budget(source, precision, model, report);
  const bool is_used = std::ranges::any_of(stack.planes, [](const BlobPlanes& planes) {
    return planes.qkv != kPlanesNone || planes.attn_out != kPlanesNone ||
           planes.ffn_up != kPlanesNone || planes.ffn_down != kPlanesNone ||
           planes.probabilities != kPlanesNone || planes.first_columns > 0 ||
           planes.copied_inputs > 0;
  });
  if (!is_used) {
    stack.record.flags &= ~std::uint32_t{kStackPlanes};
    stack.planes.clear();
  }
  return report;
}

}  // namespace embert::convert
