// SPDX-License-Identifier: Apache-2.0
// Maxima do not depend on order; the only sums, of first tokens, run text after text.
#include "converter/calibrate/measure_ranges.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "converter/calibrate/observe_batch.hpp"
#include "converter/calibrate/row_sample.hpp"
#include "converter/convert_error.hpp"

namespace embert::convert {
namespace {

constexpr std::size_t kMostCrossRows = 4096;      // of the states that cross-attention reads
constexpr std::size_t kMostHeadRows = 4096;       // of hidden states that task heads read
constexpr std::size_t kLmCalibrationRows = 2048;  // tokens that go through the language head

// Weights that are finite one by one can still overflow float32 together; nothing can be calibrated
// then.
void require_finite(const Activation& a) {
  std::uint32_t overflow = 0;
  for (std::size_t i = 0; i < a.rows * a.cols; ++i) {
    const auto exponent = std::bit_cast<std::uint32_t>(a.data[i]) & 0x7F800000U;
    overflow |= static_cast<std::uint32_t>(exponent == 0x7F800000U);
  }
  if (overflow != 0) {
    throw ConvertError(
        "model.safetensors: the float32 model gives values that are not finite in layer " +
        std::to_string(a.layer) +
        "; its weights are too large or damaged: compare the file with its source");
  }
}

std::vector<float> column_maxima(const Activation& a) {
  std::vector<float> most(a.cols, 0.0F);
  for (std::size_t r = 0; r < a.rows; ++r) {
    const float* row = a.data + r * a.cols;
    for (std::size_t c = 0; c < a.cols; ++c) {
      const float magnitude = std::fabs(row[c]);
      most[c] = most[c] < magnitude ? magnitude : most[c];
    }
  }
  return most;
}

void grow(float& most, const Activation& a) {
  for (const float column : column_maxima(a)) most = std::max(most, column);
}

void grow_groups(std::vector<float>& most, const Activation& a, std::size_t group) {
  const std::vector<float> columns = column_maxima(a);
  most.resize(a.cols / group);
  for (std::size_t c = 0; c < a.cols; ++c) most[c / group] = std::max(most[c / group], columns[c]);
}

void widen(ChannelRange& range, const Activation& a) {
  if (range.lowest.empty()) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    range.lowest.assign(a.cols, kInfinity);
    range.highest.assign(a.cols, -kInfinity);
    range.first_mean.assign(a.cols, 0.0);
  }
  float* const lowest = range.lowest.data();
  float* const highest = range.highest.data();
  for (std::size_t r = 0; r < a.rows; ++r) {
    const float* row = a.data + r * a.cols;
    for (std::size_t c = 0; c < a.cols; ++c) {
      lowest[c] = row[c] < lowest[c] ? row[c] : lowest[c];
      highest[c] = row[c] > highest[c] ? row[c] : highest[c];
    }
  }
  std::size_t first = 0;
  for (const std::int32_t length : a.lengths) {
    const float* row = a.data + first * a.cols;
    for (std::size_t c = 0; c < a.cols; ++c) range.first_mean[c] += static_cast<double>(row[c]);
    first += static_cast<std::size_t>(length);
  }
}

class StackRecorder {
 public:
  StackRecorder(const StackConfig& config, std::size_t source_tokens)
      : head_size_(static_cast<std::size_t>(config.head_size())),
        cross_rows_(source_tokens, kMostCrossRows) {
    ranges_.layers.resize(static_cast<std::size_t>(config.num_hidden_layers));
  }

  void see(const Activation& a) {
    switch (a.point) {
      case ActivationPoint::kEmbeddingSum:
        return grow(ranges_.embedding_sum, a);
      case ActivationPoint::kCrossStates:
        cross_rows_.add(a);
        return grow(ranges_.cross_states, a);
      case ActivationPoint::kLastHidden:
        return grow(ranges_.last_hidden, a);
      default:
        break;
    }
    const auto l = static_cast<std::size_t>(a.layer);
    if (l < ranges_.layers.size()) see(a, ranges_.layers[l]);
  }

  StackRanges take(std::size_t texts) {
    for (LayerRanges& layer : ranges_.layers) {
      for (ChannelRange* range : {&layer.input, &layer.cross_input, &layer.ffn_input}) {
        for (double& mean : range->first_mean) mean /= static_cast<double>(texts);
      }
    }
    ranges_.cross_rows = cross_rows_.take();
    return std::move(ranges_);
  }

 private:
  void see(const Activation& a, LayerRanges& layer) const {
    switch (a.point) {
      case ActivationPoint::kLayerInput:
        return widen(layer.input, a);
      case ActivationPoint::kQuery:
        return grow_groups(layer.self.query, a, head_size_);
      case ActivationPoint::kKey:
        return grow_groups(layer.self.key, a, head_size_);
      case ActivationPoint::kValue:
        return grow(layer.self.value, a);
      case ActivationPoint::kContext:
        return grow_groups(layer.self.context, a, 1);
      case ActivationPoint::kAttentionSum:
        return grow(layer.self.sum, a);
      case ActivationPoint::kCrossInput:
        return widen(layer.cross_input, a);
      case ActivationPoint::kCrossQuery:
        return grow_groups(layer.cross.query, a, head_size_);
      case ActivationPoint::kCrossKey:
        return grow_groups(layer.cross.key, a, head_size_);
      case ActivationPoint::kCrossValue:
        return grow(layer.cross.value, a);
      case ActivationPoint::kCrossContext:
        return grow_groups(layer.cross.context, a, 1);
      case ActivationPoint::kCrossSum:
        return grow(layer.cross.sum, a);
      case ActivationPoint::kFfnInput:
        return widen(layer.ffn_input, a);
      case ActivationPoint::kFfnPreactivation:
        return grow(layer.preactivation, a);
      case ActivationPoint::kFfnSum:
        return grow(layer.ffn_sum, a);
      default:
        return;
    }
  }

  std::size_t head_size_;
  StackRanges ranges_;
  RowSample cross_rows_;
};

void append(Matrix& matrix, const float* data, std::size_t rows, std::size_t cols) {
  matrix.rows += rows;
  matrix.cols = cols;
  matrix.data.insert(matrix.data.end(), data, data + rows * cols);
}

class HeadRecorder {
 public:
  HeadRecorder(const ModelConfig& config, const ModelBatch& batch)
      : token_classifier_(config.token_classifier != TokenTask::kNone),
        last_stack_(static_cast<int>(config.stacks.size()) - 1),
        token_hidden_(batch.texts.ids.size(), kMostHeadRows),
        encoder_hidden_(batch.sources.ids.size(), kMostHeadRows) {}

  void see(const Activation& a) {
    switch (a.point) {
      case ActivationPoint::kLastHidden: {
        if (a.stack != last_stack_) return encoder_hidden_.add(a);
        if (token_classifier_) token_hidden_.add(a);
        std::size_t first = 0;
        for (const std::int32_t length : a.lengths) {
          append(ranges_.first_hidden, a.data + first * a.cols, 1, a.cols);
          first += static_cast<std::size_t>(length);
        }
        return;
      }
      case ActivationPoint::kProjected:
        return grow(ranges_.projected, a);
      case ActivationPoint::kPooled:
        return append(ranges_.pooled, a.data, a.rows, a.cols);
      case ActivationPoint::kLogits:
        return grow(ranges_.logits, a);
      case ActivationPoint::kTokenLogits:
        return grow(ranges_.token_logits, a);
      case ActivationPoint::kLmInput:
        return append(ranges_.lm_input, a.data, a.rows, a.cols);
      case ActivationPoint::kLmTransform:
        return grow(ranges_.lm_transform, a);
      case ActivationPoint::kLmNormed:
        return append(ranges_.lm_normed, a.data, a.rows, a.cols);
      case ActivationPoint::kLmLogits:
        return grow(ranges_.lm_logits, a);
      default:
        return;
    }
  }

  HeadRanges take() {
    ranges_.token_hidden = token_hidden_.take();
    ranges_.encoder_hidden = encoder_hidden_.take();
    return std::move(ranges_);
  }

 private:
  bool token_classifier_;
  int last_stack_;
  HeadRanges ranges_;
  RowSample token_hidden_, encoder_hidden_;
};

}  // namespace

CalibrationRanges measure_ranges(FloatModel& model, const ModelConfig& config,
                                 const ModelBatch& batch) {
  const std::size_t texts = batch.texts.lengths.size();
  if (texts == 0) throw ConvertError("calibration: no text; give at least one");
  std::vector<StackRecorder> stacks;
  std::size_t source_tokens = batch.sources.ids.size();
  for (const std::int32_t length : batch.texts.source_lengths) {
    source_tokens += static_cast<std::size_t>(length);
  }
  for (const StackConfig& stack : config.stacks) stacks.emplace_back(stack, source_tokens);
  HeadRecorder heads(config, batch);
  const Observer observer = [&](const Activation& a) {
    require_finite(a);
    stacks[static_cast<std::size_t>(a.stack)].see(a);
    heads.see(a);
  };
  const bool language = config.language_head != LanguageHeadKind::kNone;
  observe_batch(model, batch, language ? kLmCalibrationRows : 0, observer);
  CalibrationRanges ranges;
  for (StackRecorder& stack : stacks) ranges.stacks.push_back(stack.take(texts));
  ranges.heads = heads.take();
  return ranges;
}

void add_headroom(CalibrationRanges& ranges, double headroom) {
  for (StackRanges& stack : ranges.stacks) {
    for (LayerRanges& layer : stack.layers) {
      for (ChannelRange* range : {&layer.input, &layer.cross_input, &layer.ffn_input}) {
        for (std::size_t c = 0; c < range->lowest.size(); ++c) {
          const float more = static_cast<float>(headroom) * (range->highest[c] - range->lowest[c]);
          range->lowest[c] -= more;
          range->highest[c] += more;
        }
      }
    }
  }
}

}  // namespace embert::convert
