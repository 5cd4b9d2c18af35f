// SPDX-License-Identifier: Apache-2.0
// Maxima do not depend on order; the only sums, of first tokens, run text after text.
#include "converter/calibrate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "converter/convert_error.hpp"

namespace embert::convert {
namespace {

class RangeRecorder {
 public:
  RangeRecorder(Ranges& ranges, const BertConfig& config)
      : ranges_(ranges), head_size_(static_cast<std::size_t>(config.head_size())) {
    const auto hidden = static_cast<std::size_t>(config.hidden_size);
    const auto heads = static_cast<std::size_t>(config.num_attention_heads);
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const ChannelRange nothing{std::vector<float>(hidden, kInfinity),
                               std::vector<float>(hidden, -kInfinity),
                               std::vector<double>(hidden, 0.0)};
    LayerRanges layer;
    layer.input = layer.ffn_input = nothing;
    layer.context.assign(hidden, 0);
    layer.query.assign(heads, 0);
    layer.key.assign(heads, 0);
    ranges_.layers.assign(static_cast<std::size_t>(config.num_hidden_layers), layer);
  }

  void see(const Activation& a) {
    require_finite(a);
    const auto l = static_cast<std::size_t>(a.layer);
    switch (a.point) {
      case ActivationPoint::kEmbeddingSum:
        return grow(ranges_.embedding_sum, a);
      case ActivationPoint::kLayerInput:
        return widen(ranges_.layers[l].input, a);
      case ActivationPoint::kQuery:
        return grow_groups(ranges_.layers[l].query, a, head_size_);
      case ActivationPoint::kKey:
        return grow_groups(ranges_.layers[l].key, a, head_size_);
      case ActivationPoint::kValue:
        return grow(ranges_.layers[l].value, a);
      case ActivationPoint::kContext:
        return grow_groups(ranges_.layers[l].context, a, 1);
      case ActivationPoint::kAttentionSum:
        return grow(ranges_.layers[l].attention_sum, a);
      case ActivationPoint::kFfnInput:
        return widen(ranges_.layers[l].ffn_input, a);
      case ActivationPoint::kFfnPreactivation:
        return grow(ranges_.layers[l].preactivation, a);
      case ActivationPoint::kFfnActivated:
        return;
      case ActivationPoint::kOutputSum:
        return grow(ranges_.layers[l].output_sum, a);
      case ActivationPoint::kLastHidden:
        grow(ranges_.last_hidden, a);
        return keep_first_rows(a);
      case ActivationPoint::kPooled:
        return append(ranges_.pooled, a.data, a.rows, a.cols);
      case ActivationPoint::kLogits:
        return grow(ranges_.logits, a);
      default:
        return;
    }
  }

 private:
  /// Weights that are finite one by one can still overflow float32 together; nothing can be
  /// calibrated then.
  static void require_finite(const Activation& a) {
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

  static std::vector<float> column_maxima(const Activation& a) {
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

  static void grow(float& most, const Activation& a) {
    for (const float column : column_maxima(a)) most = std::max(most, column);
  }

  static void grow_groups(std::vector<float>& most, const Activation& a, std::size_t group) {
    const std::vector<float> columns = column_maxima(a);
    for (std::size_t c = 0; c < a.cols; ++c)
      most[c / group] = std::max(most[c / group], columns[c]);
  }

  static void widen(ChannelRange& range, const Activation& a) {
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

  void keep_first_rows(const Activation& a) {
    std::size_t first = 0;
    for (const std::int32_t length : a.lengths) {
      append(ranges_.first_hidden, a.data + first * a.cols, 1, a.cols);
      first += static_cast<std::size_t>(length);
    }
  }

  static void append(Matrix& matrix, const float* data, std::size_t rows, std::size_t cols) {
    matrix.rows += rows;
    matrix.cols = cols;
    matrix.data.insert(matrix.data.end(), data, data + rows * cols);
  }

  Ranges& ranges_;
  std::size_t head_size_;
};

}  // namespace

Ranges measure_ranges(FloatModel& model, const BertConfig& config, const TokenBatch& texts) {
  Ranges ranges;
  ranges.texts = texts.lengths.size();
  if (ranges.texts == 0) throw ConvertError("calibration: no text; give at least one");
  RangeRecorder recorder(ranges, config);
  const Observer observer = [&](const Activation& a) { recorder.see(a); };
  model.forward(texts, &observer);
  for (LayerRanges& layer : ranges.layers) {
    for (ChannelRange* range : {&layer.input, &layer.ffn_input}) {
      for (double& mean : range->first_mean) mean /= static_cast<double>(ranges.texts);
    }
  }
  return ranges;
}

}  // namespace embert::convert
