// SPDX-License-Identifier: Apache-2.0
// Maxima do not depend on the order of texts; the only sums (of first tokens) run text after text.
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
#include "converter/model/model_config.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/reference/float_model.hpp"

namespace embert::convert {
namespace {

constexpr std::size_t kMostCrossRows = 4096;      // of the states that cross-attention reads
constexpr std::size_t kMostEmbeddingRows = 4096;  // of the embedding projection's input
constexpr std::size_t kMostHeadRows = 4096;       // of hidden states that task heads read
constexpr std::size_t kLmCalibrationRows = 2048;  // tokens that go through the language head

// Finite weights can still give activations beyond float32, and nothing can be calibrated then.
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

// Largest magnitude of each column.
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

// Raises `most` to the largest magnitude of an activation.
void raise_maximum(float& most, const Activation& a) {
  for (const float column : column_maxima(a)) most = std::max(most, column);
}

// Raises one maximum for each group of `group` columns.
void raise_maxima(std::vector<float>& most, const Activation& a, std::size_t group) {
  const std::vector<float> columns = column_maxima(a);
  most.resize(a.cols / group);
  for (std::size_t c = 0; c < a.cols; ++c) most[c / group] = std::max(most[c / group], columns[c]);
}

// Extends a LayerNorm output's range, and sums its first tokens.
void extend(ChannelRange& range, const Activation& a) {
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

// All that stand for rows of 8-bit codes.
std::vector<ChannelRange*> channel_ranges(LayerRanges& layer) {
  std::vector<ChannelRange*> ranges = {
      &layer.input,     &layer.cross_input,       &layer.intra,
      &layer.query_key, &layer.bottleneck_output, &layer.ffn_input};
  for (FeedForwardRanges& ffn : layer.stacked) ranges.push_back(&ffn.ffn_input);
  return ranges;
}

// Records the ranges of one stack.
class StackRecorder {
 public:
  StackRecorder(const StackConfig& config, std::size_t tokens, std::size_t source_tokens)
      : config_(config),
        head_size_(static_cast<std::size_t>(config.head_size())),
        rotary_(config.rotary.has_value()),
        layers_of_weights_(layers_of_weights(config)),
        cross_rows_(source_tokens, kMostCrossRows),
        embedding_rows_(tokens, kMostEmbeddingRows),
        word_rows_(tokens, kMostEmbeddingRows) {
    ranges_.layers.resize(layers_of_weights_.size());
    for (LayerRanges& layer : ranges_.layers) {
      layer.stacked.resize(static_cast<std::size_t>(config.num_ffns - 1));
    }
  }

  void see(const Activation& a) {
    switch (a.point) {
      case ActivationPoint::kEmbeddingSum:
        return raise_maximum(ranges_.embedding_sum, a);
      case ActivationPoint::kEmbeddingNormed:
        return embedding_rows_.add(a);
      case ActivationPoint::kWordVectors:
        return word_rows_.add(a);
      case ActivationPoint::kWordSum:
        return raise_maximum(ranges_.word_sum, a);
      case ActivationPoint::kCrossStates:
        cross_rows_.add(a);
        return raise_maximum(ranges_.cross_states, a);
      case ActivationPoint::kLastHidden:
        return raise_maximum(ranges_.last_hidden, a);
      default:
        break;
    }
    const auto l = static_cast<std::size_t>(a.layer);
    if (l < static_cast<std::size_t>(config_.num_hidden_layers)) {
      see(a, ranges_.layers[config_.weights_of(l)]);
    }
  }

  StackRanges take(std::size_t texts) {
    for (std::size_t w = 0; w < ranges_.layers.size(); ++w) {
      LayerRanges& layer = ranges_.layers[w];
      const auto firsts = static_cast<double>(texts * layers_of_weights_[w]);
      for (ChannelRange* range : channel_ranges(layer)) {
        for (double& mean : range->first_mean) mean /= firsts;
      }
    }
    ranges_.cross_rows = cross_rows_.take();
    ranges_.embedding_rows = embedding_rows_.take();
    ranges_.word_rows = word_rows_.take();
    return std::move(ranges_);
  }

 private:
  void see(const Activation& a, LayerRanges& layer) const {
    FeedForwardRanges& ffn = layer.ffn(a.ffn);
    switch (a.point) {
      case ActivationPoint::kLayerInput:
        return extend(layer.input, a);
      case ActivationPoint::kIntraSum:
        return raise_maximum(layer.intra_sum, a);
      case ActivationPoint::kIntraInput:
        return extend(layer.intra, a);
      case ActivationPoint::kQueryKeySum:
        return raise_maximum(layer.query_key_sum, a);
      case ActivationPoint::kQueryKeyInput:
        return extend(layer.query_key, a);
      case ActivationPoint::kBottleneckOutput:
        return extend(layer.bottleneck_output, a);
      case ActivationPoint::kBottleneckSum:
        return raise_maximum(layer.output_sum, a);
      case ActivationPoint::kQuery:
        if (rotary_) raise_maxima(layer.self.query_channels, a, 1);
        return raise_maxima(layer.self.query, a, head_size_);
      case ActivationPoint::kKey:
        if (rotary_) raise_maxima(layer.self.key_channels, a, 1);
        return raise_maxima(layer.self.key, a, head_size_);
      case ActivationPoint::kValue:
        return raise_maximum(layer.self.value, a);
      case ActivationPoint::kContext:
        return raise_maxima(layer.self.context, a, 1);
      case ActivationPoint::kAttentionSum:
        return raise_maximum(layer.self.sum, a);
      case ActivationPoint::kCrossInput:
        return extend(layer.cross_input, a);
      case ActivationPoint::kCrossQuery:
        return raise_maxima(layer.cross.query, a, head_size_);
      case ActivationPoint::kCrossKey:
        return raise_maxima(layer.cross.key, a, head_size_);
      case ActivationPoint::kCrossValue:
        return raise_maximum(layer.cross.value, a);
      case ActivationPoint::kCrossContext:
        return raise_maxima(layer.cross.context, a, 1);
      case ActivationPoint::kCrossSum:
        return raise_maximum(layer.cross.sum, a);
      case ActivationPoint::kFfnInput:
        return extend(ffn.ffn_input, a);
      case ActivationPoint::kFfnPreactivation:
        return raise_maximum(ffn.preactivation, a);
      case ActivationPoint::kFfnGate:
        return raise_maxima(ffn.gate, a, 1);
      case ActivationPoint::kFfnActivated:
        return raise_maxima(ffn.activated, a, 1);
      case ActivationPoint::kFfnSum:
        return raise_maximum(ffn.ffn_sum, a);
      default:
        return;
    }
  }

  const StackConfig& config_;
  std::size_t head_size_;
  bool rotary_;
  std::vector<std::size_t> layers_of_weights_;
  StackRanges ranges_;
  RowSample cross_rows_, embedding_rows_, word_rows_;
};

void add_rows(Matrix& matrix, const float* data, std::size_t rows, std::size_t cols) {
  matrix.rows += rows;
  matrix.cols = cols;
  matrix.data.insert(matrix.data.end(), data, data + rows * cols);
}

// Records the ranges and rows of the task heads.
class HeadRecorder {
 public:
  HeadRecorder(const ModelConfig& config, const ModelBatch& batch)
      : token_classifier_(config.token_classifier != TokenTask::kNone),
        last_stack_(static_cast<int>(config.stacks.size()) - 1),
        token_hidden_(batch.texts.ids.size(), kMostHeadRows),
        token_input_(batch.texts.ids.size(), kMostHeadRows),
        encoder_hidden_(batch.sources.ids.size(), kMostHeadRows) {}

  void see(const Activation& a) {
    switch (a.point) {
      case ActivationPoint::kLastHidden:
        if (a.stack != last_stack_) return encoder_hidden_.add(a);
        if (token_classifier_) token_hidden_.add(a);
        return;
      case ActivationPoint::kPoolerInput:
        return add_rows(ranges_.pooler_input, a.data, a.rows, a.cols);
      case ActivationPoint::kPoolerSum:
        return raise_maximum(ranges_.pooler_sum, a);
      case ActivationPoint::kProjected:
        return raise_maximum(ranges_.projected, a);
      case ActivationPoint::kPooled:
        return add_rows(ranges_.pooled, a.data, a.rows, a.cols);
      case ActivationPoint::kLogits:
        return raise_maximum(ranges_.logits, a);
      case ActivationPoint::kTokenSum:
        return raise_maximum(ranges_.token_sum, a);
      case ActivationPoint::kTokenInput:
        return token_input_.add(a);
      case ActivationPoint::kTokenLogits:
        return raise_maximum(ranges_.token_logits, a);
      case ActivationPoint::kLmInput:
        return add_rows(ranges_.lm_input, a.data, a.rows, a.cols);
      case ActivationPoint::kLmTransform:
        return raise_maximum(ranges_.lm_transform, a);
      case ActivationPoint::kLmNormed:
        return add_rows(ranges_.lm_normed, a.data, a.rows, a.cols);
      case ActivationPoint::kLmLogits:
        return raise_maximum(ranges_.lm_logits, a);
      default:
        return;
    }
  }

  HeadRanges take() {
    ranges_.token_hidden = token_hidden_.take();
    ranges_.token_input = token_input_.take();
    ranges_.encoder_hidden = encoder_hidden_.take();
    return std::move(ranges_);
  }

 private:
  bool token_classifier_;
  int last_stack_;
  HeadRanges ranges_;
  RowSample token_hidden_, token_input_, encoder_hidden_;
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
  for (std::size_t s = 0; s < config.stacks.size(); ++s) {
    const std::size_t tokens = batch.of_stack(s, config.stacks.size()).ids.size();
    stacks.emplace_back(config.stacks[s], tokens, source_tokens);
  }
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
  constexpr float kMost = std::numeric_limits<float>::max();
  for (StackRanges& stack : ranges.stacks) {
    for (LayerRanges& layer : stack.layers) {
      for (ChannelRange* range : channel_ranges(layer)) {
        for (std::size_t c = 0; c < range->lowest.size(); ++c) {
          const float width = std::min(range->highest[c] - range->lowest[c], kMost);
          const float more = static_cast<float>(headroom) * width;
          range->lowest[c] = std::max(range->lowest[c] - more, -kMost);
          range->highest[c] = std::min(range->highest[c] + more, kMost);
        }
      }
    }
  }
}

}  // namespace embert::convert
