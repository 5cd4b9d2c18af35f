// SPDX-License-Identifier: Apache-2.0
// Everything here runs in the observer's thread, between two layers of the float model: loops are
// plain enough to be vectorised, and sums run row after row.
#include "converter/calibrate/collect_rows.hpp"

#include <algorithm>
#include <cmath>

#include "converter/calibrate/observe_batch.hpp"
#include "converter/calibrate/row_sample.hpp"
#include "kernels/arithmetic/fixed_point.hpp"

namespace embert::convert {
namespace {

std::int32_t round_within(float x, float lowest, float highest) {
  const float within = x < lowest ? lowest : x > highest ? highest : x;
  return static_cast<std::int32_t>(within + (within < 0 ? -0.5F : 0.5F));
}

// How a GEMM's input is quantised: (in + shift[c]) * scale[c] to an integer of 8 or 16 bits, then
// for 16 bits to 8 with a step of its own a row, as the runtime does.
class RowQuantizer {
 public:
  // A LayerNorm's output: one step for all rows.
  static RowQuantizer static_step(const ChannelQuant& domain) {
    return RowQuantizer(domain, 127, 127);
  }
  static RowQuantizer context(const ChannelQuant& domain) {
    return RowQuantizer(domain, 32767, 127);
  }
  static RowQuantizer activated(const LayerScales& steps, std::size_t cols) {
    ChannelQuant domain;
    domain.offset.assign(cols, -std::ldexp(steps.activation_offset_q14, -14));
    domain.factor.assign(cols, 1.0);
    domain.scale = std::ldexp(1.0, -steps.activation_exponent);
    RowQuantizer quantizer(domain, 32767, 255);
    quantizer.lowest_ = 0;
    quantizer.zero_point_ = -128;
    return quantizer;
  }

  int zero_point() const { return zero_point_; }

  // One row. `step` gets the folded real value of a code.
  void quantize(const float* in, std::int8_t* codes, float& step) {
    const std::size_t cols = row_.size();
    for (std::size_t c = 0; c < cols; ++c) {
      row_[c] = round_within((in[c] + shift_[c]) * scale_[c], lowest_, highest_);
    }
    step = static_cast<float>(unit_);
    if (!by_row_) {
      for (std::size_t c = 0; c < cols; ++c) codes[c] = static_cast<std::int8_t>(row_[c]);
      return;
    }
    std::int32_t most = 1;
    for (std::size_t c = 0; c < cols; ++c) most = std::max(most, std::abs(row_[c]));
    const RowScale scale = row_scale(most, top_);
    for (std::size_t c = 0; c < cols; ++c) {
      codes[c] = static_cast<std::int8_t>(quantize_row_value(row_[c], scale) + zero_point_);
    }
    step = static_cast<float>(unit_ * most / top_);
  }

 private:
  RowQuantizer(const ChannelQuant& domain, std::int32_t bound, std::int32_t top)
      : unit_(domain.scale),
        by_row_(bound != top),
        top_(top),
        lowest_(static_cast<float>(-bound)),
        highest_(static_cast<float>(bound)),
        row_(domain.factor.size()) {
    for (std::size_t c = 0; c < domain.factor.size(); ++c) {
      shift_.push_back(static_cast<float>(-domain.offset[c]));
      scale_.push_back(static_cast<float>(1 / (domain.factor[c] * domain.scale)));
    }
  }

  double unit_;
  bool by_row_;
  std::int32_t top_;
  int zero_point_ = 0;
  float lowest_, highest_;
  std::vector<float> shift_, scale_;
  std::vector<std::int32_t> row_;
};

// Rows of one stack.
class RowRecorder {
 public:
  RowRecorder(const std::vector<LayerScales>& steps, std::size_t tokens, std::size_t max_rows)
      : steps_(steps), even_(tokens, max_rows), layers_(steps.size()) {}

  void see(const Activation& a) {
    if (a.point == ActivationPoint::kEmbeddingSum) {  // the first point of a chunk
      first_row_ += chunk_rows_;
      chunk_rows_ = a.rows;
    }
    const auto l = static_cast<std::size_t>(a.layer);
    if (l < layers_.size()) see(a, steps_[l], layers_[l]);
  }

  std::vector<LayerRows> take() {
    const auto count = static_cast<double>(even_.kept());
    for (LayerRows& layer : layers_) {
      for (QuantizedRows* rows : {&layer.input, &layer.context, &layer.cross_input,
                                  &layer.cross_context, &layer.ffn_input, &layer.activated}) {
        for (double& mean : rows->real_mean) mean /= count;
        for (double& mean : rows->smoothed_mean) mean /= count;
      }
    }
    return std::move(layers_);
  }

 private:
  void see(const Activation& a, const LayerScales& steps, LayerRows& rows) {
    switch (a.point) {
      case ActivationPoint::kLayerInput:
        return add(rows.input, a, RowQuantizer::static_step(steps.input));
      case ActivationPoint::kContext:
        return add(rows.context, a, RowQuantizer::context(steps.context));
      case ActivationPoint::kCrossInput:
        return add(rows.cross_input, a, RowQuantizer::static_step(steps.cross_input));
      case ActivationPoint::kCrossContext:
        return add(rows.cross_context, a, RowQuantizer::context(steps.cross_context));
      case ActivationPoint::kFfnInput:
        return add(rows.ffn_input, a, RowQuantizer::static_step(steps.ffn_input));
      case ActivationPoint::kFfnActivated:
        return add(rows.activated, a, RowQuantizer::activated(steps, a.cols));
      default:
        return;
    }
  }

  void add(QuantizedRows& out, const Activation& a, RowQuantizer quantizer) {
    if (out.codes.empty()) {
      out.rows = even_.kept();
      out.cols = a.cols;
      out.zero_point = quantizer.zero_point();
      out.codes.resize(out.rows * a.cols);
      out.row_scale.resize(out.rows);
      out.real_mean.assign(a.cols, 0.0);
      out.smoothed_mean.assign(a.cols, 0.0);
    }
    for (std::size_t r = 0; r < a.rows; ++r) {
      if (!even_.keeps(first_row_ + r)) continue;
      const std::size_t to = even_.kept_before(first_row_ + r);
      const float* in = a.data + r * a.cols;
      std::int8_t* codes = out.codes.data() + to * a.cols;
      quantizer.quantize(in, codes, out.row_scale[to]);
      const auto step = static_cast<double>(out.row_scale[to]);
      double* const real_sum = out.real_mean.data();
      double* const smoothed_sum = out.smoothed_mean.data();
      for (std::size_t c = 0; c < a.cols; ++c) {
        real_sum[c] += static_cast<double>(in[c]);
        smoothed_sum[c] += (codes[c] - out.zero_point) * step;
      }
    }
  }

  const std::vector<LayerScales>& steps_;
  RowSelection even_;
  std::vector<LayerRows> layers_;
  std::size_t first_row_ = 0, chunk_rows_ = 0;
};

}  // namespace

std::size_t affordable_rows(const ModelConfig& config) {
  constexpr std::size_t kBytes = std::size_t{256} << 20, kLeast = 2048;
  std::size_t row_bytes = 0;
  for (const StackConfig& stack : config.stacks) {
    const int hidden_inputs = stack.cross_attention ? 5 : 3;  // of the hidden size
    row_bytes +=
        static_cast<std::size_t>(stack.num_hidden_layers) *
        static_cast<std::size_t>(hidden_inputs * stack.hidden_size + stack.intermediate_size);
  }
  return std::max(kLeast, kBytes / row_bytes);
}

std::vector<std::vector<LayerRows>> collect_rows(FloatModel& model,
                                                 const std::vector<std::vector<LayerScales>>& steps,
                                                 const ModelBatch& batch, std::size_t max_rows) {
  std::vector<RowRecorder> recorders;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    recorders.emplace_back(steps[s], batch.of_stack(s, steps.size()).ids.size(), max_rows);
  }
  const Observer observer = [&](const Activation& a) {
    recorders[static_cast<std::size_t>(a.stack)].see(a);
  };
  observe_batch(model, batch, 0, observer);
  std::vector<std::vector<LayerRows>> rows;
  for (RowRecorder& recorder : recorders) rows.push_back(recorder.take());
  return rows;
}

}  // namespace embert::convert
