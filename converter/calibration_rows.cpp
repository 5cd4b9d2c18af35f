// SPDX-License-Identifier: Apache-2.0
// Everything here runs in the observer's thread, between two layers of the float model: loops are
// plain enough to be vectorised, and sums run row after row.
#include "converter/calibration_rows.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/fixed_point.hpp"

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
  static RowQuantizer static_step(const InputDomain& domain) {
    return RowQuantizer(domain, 127, 127);
  }
  static RowQuantizer context(const InputDomain& domain) {
    return RowQuantizer(domain, 32767, 127);
  }
  static RowQuantizer activated(const LayerSteps& steps, std::size_t cols) {
    InputDomain domain;
    domain.offset.assign(cols, -std::ldexp(steps.activation_offset_q14, -14));
    domain.factor.assign(cols, 1.0);
    domain.step = std::ldexp(1.0, -steps.activation_exponent);
    RowQuantizer quantizer(domain, 32767, 255);
    quantizer.lowest_ = 0;
    quantizer.code_offset_ = 128;
    return quantizer;
  }

  int code_offset() const { return code_offset_; }

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
      codes[c] = static_cast<std::int8_t>(quantize_row_value(row_[c], scale) - code_offset_);
    }
    step = static_cast<float>(unit_ * most / top_);
  }

 private:
  RowQuantizer(const InputDomain& domain, std::int32_t bound, std::int32_t top)
      : unit_(domain.step),
        by_row_(bound != top),
        top_(top),
        lowest_(static_cast<float>(-bound)),
        highest_(static_cast<float>(bound)),
        row_(domain.factor.size()) {
    for (std::size_t c = 0; c < domain.factor.size(); ++c) {
      shift_.push_back(static_cast<float>(-domain.offset[c]));
      scale_.push_back(static_cast<float>(1 / (domain.factor[c] * domain.step)));
    }
  }

  double unit_;
  bool by_row_;
  std::int32_t top_;
  int code_offset_ = 0;
  float lowest_, highest_;
  std::vector<float> shift_, scale_;
  std::vector<std::int32_t> row_;
};

class RowRecorder {
 public:
  RowRecorder(const std::vector<LayerSteps>& steps, std::size_t tokens, std::size_t max_rows)
      : steps_(steps), tokens_(tokens), kept_(std::min(tokens, max_rows)), layers_(steps.size()) {}

  void see(const Activation& a) {
    const auto l = static_cast<std::size_t>(a.layer);
    switch (a.point) {
      case ActivationPoint::kEmbeddingSum:  // the first point of a chunk
        first_row_ += chunk_rows_;
        chunk_rows_ = a.rows;
        return;
      case ActivationPoint::kLayerInput:
        return add(layers_[l].input, a, RowQuantizer::static_step(steps_[l].input));
      case ActivationPoint::kContext:
        return add(layers_[l].context, a, RowQuantizer::context(steps_[l].context));
      case ActivationPoint::kFfnInput:
        return add(layers_[l].ffn_input, a, RowQuantizer::static_step(steps_[l].ffn_input));
      case ActivationPoint::kFfnActivated:
        return add(layers_[l].activated, a, RowQuantizer::activated(steps_[l], a.cols));
      default:
        return;
    }
  }

  std::vector<LayerRows> take() {
    const auto count = static_cast<double>(kept_);
    for (LayerRows& layer : layers_) {
      for (QuantizedRows* rows :
           {&layer.input, &layer.context, &layer.ffn_input, &layer.activated}) {
        for (double& mean : rows->real_mean) mean /= count;
        for (double& mean : rows->folded_mean) mean /= count;
      }
    }
    return std::move(layers_);
  }

 private:
  // How many of the rows before `row` are kept: evenly spread.
  std::size_t kept_before(std::size_t row) const { return row * kept_ / tokens_; }

  void add(QuantizedRows& out, const Activation& a, RowQuantizer quantizer) {
    if (out.codes.empty()) {
      out.rows = kept_;
      out.cols = a.cols;
      out.code_offset = quantizer.code_offset();
      out.codes.resize(kept_ * a.cols);
      out.row_step.resize(kept_);
      out.real_mean.assign(a.cols, 0.0);
      out.folded_mean.assign(a.cols, 0.0);
    }
    for (std::size_t r = 0; r < a.rows; ++r) {
      const std::size_t to = kept_before(first_row_ + r);
      if (kept_before(first_row_ + r + 1) == to) continue;
      const float* in = a.data + r * a.cols;
      std::int8_t* codes = out.codes.data() + to * a.cols;
      quantizer.quantize(in, codes, out.row_step[to]);
      const auto step = static_cast<double>(out.row_step[to]);
      double* const real_sum = out.real_mean.data();
      double* const folded_sum = out.folded_mean.data();
      for (std::size_t c = 0; c < a.cols; ++c) {
        real_sum[c] += static_cast<double>(in[c]);
        folded_sum[c] += (codes[c] + out.code_offset) * step;
      }
    }
  }

  const std::vector<LayerSteps>& steps_;
  std::size_t tokens_, kept_;
  std::vector<LayerRows> layers_;
  std::size_t first_row_ = 0, chunk_rows_ = 0;
};

}  // namespace

std::size_t affordable_rows(const BertConfig& config) {
  constexpr std::size_t kBytes = std::size_t{256} << 20, kLeast = 2048;
  const auto row_bytes =
      static_cast<std::size_t>(config.num_hidden_layers) *
      static_cast<std::size_t>(3 * config.hidden_size + config.intermediate_size);
  return std::max(kLeast, kBytes / row_bytes);
}

std::vector<LayerRows> collect_rows(FloatModel& model, const std::vector<LayerSteps>& steps,
                                    const TokenBatch& texts, std::size_t max_rows) {
  RowRecorder recorder(steps, texts.ids.size(), max_rows);
  const Observer observer = [&](const Activation& a) { recorder.see(a); };
  model.forward(texts, &observer);
  return recorder.take();
}

}  // namespace embert::convert
