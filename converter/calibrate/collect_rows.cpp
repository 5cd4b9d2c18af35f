// SPDX-License-Identifier: Apache-2.0
// The recorders run in the observer's thread, between two layers of the float model. Their loops
// are plain enough for the compiler to vectorise, and sums run row after row.
#include "converter/calibrate/collect_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "converter/calibrate/observe_batch.hpp"
#include "converter/calibrate/row_sample.hpp"
#include "converter/model/model_config.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/reference/float_model.hpp"
#include "kernels/arithmetic/fixed_point.hpp"

namespace embert::convert {
namespace {

std::int32_t round_within(float x, float lowest, float highest) {
  const float within = x > lowest ? (x < highest ? x : highest) : lowest;
  return static_cast<std::int32_t>(within + (within < 0 ? -0.5F : 0.5F));
}

// Quantises the rows of a GEMM's input as the runtime does: (in + shift[c]) * inverse[c], rounded
// to 8 or 16 bits; 16-bit rows are then requantised to 8 bits with a scale per row. Rows that the
// GEMM reads with 16 bits are kept in this way, too: 8 bits serve their covariance. Their mean is
// that of the 16 bits.
class RowQuantizer {
 public:
  // A LayerNorm's output: one scale for all rows.
  static RowQuantizer norm_output(const ChannelQuant& quant, bool wide = false) {
    if (!wide) return RowQuantizer(quant, 127, 127);
    ChannelQuant fine = quant;
    fine.scale /= 128;
    return RowQuantizer(fine, 32767, 127);
  }
  static RowQuantizer context(const ChannelQuant& quant) { return RowQuantizer(quant, 32767, 127); }
  // Of a gated feed-forward network.
  static RowQuantizer product(const ChannelQuant& quant) { return context(quant); }
  static RowQuantizer activated(const FeedForwardScales& scales, std::size_t cols) {
    ChannelQuant quant;
    quant.offset.assign(cols, -std::ldexp(scales.activation_offset_q14, -14));
    quant.factor.assign(cols, 1.0);
    quant.scale = std::ldexp(1.0, -scales.activation_exponent);
    RowQuantizer quantizer(quant, 32767, 255);
    quantizer.lowest_ = 0;
    quantizer.zero_point_ = -128;
    return quantizer;
  }

  // Each group of columns gets a scale of its own. Empty: all are one.
  RowQuantizer grouped(const std::vector<std::uint8_t>& group) && {
    if (!group.empty()) group_ = group;
    return std::move(*this);
  }

  int zero_point() const { return zero_point_; }
  // Of the row that was quantised last.
  double value16(std::size_t c) const { return row_[c] * scale_; }
  const std::vector<std::uint8_t>& group() const { return group_; }

  // Quantises one row; scales: one for each group.
  void quantize(const float* in, std::int8_t* codes, float* scales) {
    const std::size_t cols = row_.size();
    for (std::size_t c = 0; c < cols; ++c) {
      row_[c] = round_within((in[c] + shift_[c]) * inverse_[c], lowest_, highest_);
    }
    if (!by_row_) {
      for (std::size_t c = 0; c < cols; ++c) codes[c] = static_cast<std::int8_t>(row_[c]);
      std::fill_n(scales, kColumnGroups, static_cast<float>(scale_));
      return;
    }
    std::int32_t most[kColumnGroups];
    std::fill_n(most, kColumnGroups, 1);
    for (std::size_t c = 0; c < cols; ++c) {
      most[group_[c]] = std::max(most[group_[c]], std::abs(row_[c]));
    }
    RowScale to_codes[kColumnGroups];
    for (std::size_t g = 0; g < kColumnGroups; ++g) {
      to_codes[g] = row_scale(most[g], top_);
      scales[g] = static_cast<float>(scale_ * most[g] / top_);
    }
    for (std::size_t c = 0; c < cols; ++c) {
      codes[c] =
          static_cast<std::int8_t>(quantize_row_value(row_[c], to_codes[group_[c]]) + zero_point_);
    }
  }

 private:
  // Values are rounded to -bound..bound; `top` is the largest magnitude of a code.
  RowQuantizer(const ChannelQuant& quant, std::int32_t bound, std::int32_t top)
      : scale_(quant.scale),
        by_row_(bound != top),
        top_(top),
        lowest_(static_cast<float>(-bound)),
        highest_(static_cast<float>(bound)),
        row_(quant.factor.size()),
        group_(quant.factor.size()) {
    for (std::size_t c = 0; c < quant.factor.size(); ++c) {
      shift_.push_back(static_cast<float>(-quant.offset[c]));
      // Finite, so that 0 stays 0.
      const double inverse = 1 / (quant.factor[c] * quant.scale);
      inverse_.push_back(static_cast<float>(
          std::min(inverse, static_cast<double>(std::numeric_limits<float>::max()))));
    }
  }

  double scale_;
  bool by_row_;
  std::int32_t top_;
  int zero_point_ = 0;
  float lowest_, highest_;
  std::vector<float> shift_, inverse_;  // [cols]
  std::vector<std::int32_t> row_;       // [cols]
  std::vector<std::uint8_t> group_;     // [cols]
};

// Collects the rows of one stack.
class RowRecorder {
 public:
  RowRecorder(const StackConfig& config, const std::vector<LayerScales>& scales, std::size_t tokens,
              std::size_t max_rows)
      : config_(config),
        scales_(scales),
        layers_of_weights_(layers_of_weights(config)),
        selection_(tokens, max_rows),
        layers_(scales.size()),
        wide_(!scales.empty() && scales.front().wide_inputs) {
    for (LayerRows& layer : layers_) {
      layer.stacked.resize(static_cast<std::size_t>(config.num_ffns - 1));
    }
  }

  void see(const Activation& a) {
    if (a.point == ActivationPoint::kEmbeddingSum) {  // the first point of every chunk
      first_row_ += chunk_rows_;
      chunk_rows_ = a.rows;
    }
    const auto l = static_cast<std::size_t>(a.layer);
    if (l >= static_cast<std::size_t>(config_.num_hidden_layers)) return;
    const std::size_t w = config_.weights_of(l);
    place_ = {.sharing = layers_of_weights_[w], .before = 0};
    for (std::size_t before = 0; before < l; ++before)
      place_.before += config_.weights_of(before) == w;
    see(a, scales_[w], layers_[w]);
  }

  std::vector<LayerRows> take() {
    for (LayerRows& layer : layers_) {
      std::vector<QuantizedRows*> all = {
          &layer.input,         &layer.context,   &layer.cross_input,
          &layer.cross_context, &layer.ffn_input, &layer.activated,
          &layer.intra,         &layer.query_key, &layer.bottleneck_output};
      for (FeedForwardRows& ffn : layer.stacked) {
        all.insert(all.end(), {&ffn.ffn_input, &ffn.activated});
      }
      for (QuantizedRows* rows : all) {
        const auto count = static_cast<double>(rows->rows);
        for (double& mean : rows->real_mean) mean /= count;
        for (double& mean : rows->smoothed_mean) mean /= count;
      }
    }
    return std::move(layers_);
  }

 private:
  void see(const Activation& a, const LayerScales& scales, LayerRows& rows) {
    const FeedForwardScales& ffn = scales.ffn(a.ffn);
    FeedForwardRows& ffn_rows = rows.ffn(a.ffn);
    switch (a.point) {
      case ActivationPoint::kLayerInput:
        return add(rows.input, a, RowQuantizer::norm_output(scales.input, wide_));
      case ActivationPoint::kContext:
        return add(rows.context, a, RowQuantizer::context(scales.context));
      case ActivationPoint::kCrossInput:
        return add(rows.cross_input, a, RowQuantizer::norm_output(scales.cross_input));
      case ActivationPoint::kCrossContext:
        return add(rows.cross_context, a, RowQuantizer::context(scales.cross_context));
      case ActivationPoint::kFfnInput:
        return add(ffn_rows.ffn_input, a, RowQuantizer::norm_output(ffn.ffn_input, wide_));
      case ActivationPoint::kFfnActivated:
        return add(ffn_rows.activated, a,
                   (ffn.activated.factor.empty() ? RowQuantizer::activated(ffn, a.cols)
                                                 : RowQuantizer::product(ffn.activated))
                       .grouped(ffn.group));
      case ActivationPoint::kIntraInput:
        if (config_.bottleneck != BottleneckKind::kInput) return;  // no product reads them
        return add(rows.intra, a, RowQuantizer::norm_output(scales.intra));
      case ActivationPoint::kQueryKeyInput:
        return add(rows.query_key, a, RowQuantizer::norm_output(scales.query_key));
      case ActivationPoint::kBottleneckOutput:
        return add(rows.bottleneck_output, a, RowQuantizer::norm_output(scales.bottleneck_output));
      default:
        return;
    }
  }

  void add(QuantizedRows& out, const Activation& a, RowQuantizer quantizer) {
    if (out.codes.empty()) {
      out.rows = selection_.kept() * place_.sharing;
      out.cols = a.cols;
      out.zero_point = quantizer.zero_point();
      out.codes.resize(out.rows * a.cols);
      out.group = quantizer.group();
      out.row_scale.resize(out.rows * kColumnGroups);
      out.real_mean.assign(a.cols, 0.0);
      out.smoothed_mean.assign(a.cols, 0.0);
    }
    for (std::size_t r = 0; r < a.rows; ++r) {
      if (!selection_.keeps(first_row_ + r)) continue;
      const std::size_t to =
          selection_.kept() * place_.before + selection_.kept_before(first_row_ + r);
      const float* in = a.data + r * a.cols;
      std::int8_t* codes = out.codes.data() + to * a.cols;
      float* const scales = out.row_scale.data() + to * kColumnGroups;
      quantizer.quantize(in, codes, scales);
      double* const real_sum = out.real_mean.data();
      double* const smoothed_sum = out.smoothed_mean.data();
      for (std::size_t c = 0; c < a.cols; ++c) {
        real_sum[c] += static_cast<double>(in[c]);
        smoothed_sum[c] +=
            wide_ ? quantizer.value16(c)
                  : (codes[c] - out.zero_point) * static_cast<double>(scales[out.group[c]]);
      }
    }
  }

  // Layers that share their weights are calibrated on the rows of all of them: this says how many
  // such layers there are and how many come before one.
  struct Place {
    std::size_t sharing;  // layers with these weights
    std::size_t before;   // of them before this one
  };

  const StackConfig& config_;
  const std::vector<LayerScales>& scales_;
  std::vector<std::size_t> layers_of_weights_;
  Place place_{};
  RowSelection selection_;
  std::vector<LayerRows> layers_;
  bool wide_;  // all dense layers read 16 bits
  std::size_t first_row_ = 0, chunk_rows_ = 0;
};

}  // namespace

std::size_t affordable_rows(const ModelConfig& config) {
  constexpr std::size_t kBytes = std::size_t{256} << 20, kMostBytes = std::size_t{2} << 30;
  constexpr std::size_t kLeast = 2048;  // as far as they have kMostBytes
  std::size_t row_bytes = 0;
  for (const StackConfig& stack : config.stacks) {
    const int hidden_inputs = stack.cross_attention ? 5 : 3;  // of the hidden size
    const int ffn_inputs =
        stack.num_ffns * stack.intermediate_size + (stack.num_ffns - 1) * stack.intra_size();
    row_bytes += static_cast<std::size_t>(stack.num_hidden_layers) *
                 static_cast<std::size_t>(hidden_inputs * stack.hidden_size + ffn_inputs);
  }
  return std::max({std::size_t{1}, std::min(kLeast, kMostBytes / row_bytes), kBytes / row_bytes});
}

std::vector<std::vector<LayerRows>> collect_rows(
    FloatModel& model, const ModelConfig& config,
    const std::vector<std::vector<LayerScales>>& scales, const ModelBatch& batch,
    std::size_t max_rows) {
  std::vector<RowRecorder> recorders;
  for (std::size_t s = 0; s < scales.size(); ++s) {
    recorders.emplace_back(config.stacks[s], scales[s], batch.of_stack(s, scales.size()).ids.size(),
                           max_rows);
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
