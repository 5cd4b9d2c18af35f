// SPDX-License-Identifier: Apache-2.0
// Rounding here is the runtime's own: kernels/fixed_point.hpp.
#include "converter/calibration_rows.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/fixed_point.hpp"

namespace embert::convert {
namespace {

constexpr std::size_t kColumnTile = 64;

std::int32_t round_to_int(double x, std::int32_t bound) {
  return static_cast<std::int32_t>(
      std::floor(std::clamp(x, -static_cast<double>(bound), static_cast<double>(bound)) + 0.5));
}

void quantize_static(const InputDomain& domain, const float* in, std::int8_t* codes, float& step) {
  for (std::size_t c = 0; c < domain.factor.size(); ++c) {
    const double folded = (static_cast<double>(in[c]) - domain.offset[c]) / domain.factor[c];
    codes[c] = static_cast<std::int8_t>(round_to_int(folded / domain.step, 127));
  }
  step = static_cast<float>(domain.step);
}

// The 16-bit context and then its row quantisation.
void quantize_context(const InputDomain& domain, const float* in, std::int8_t* codes, float& step) {
  std::vector<std::int32_t> row(domain.factor.size());
  std::int32_t most = 1;
  for (std::size_t c = 0; c < row.size(); ++c) {
    row[c] = round_to_int(static_cast<double>(in[c]) / (domain.factor[c] * domain.step), 32767);
    most = std::max(most, std::abs(row[c]));
  }
  const RowScale scale = row_scale(most, 127);
  for (std::size_t c = 0; c < row.size(); ++c) {
    codes[c] = static_cast<std::int8_t>(quantize_row_value(row[c], scale));
  }
  step = static_cast<float>(domain.step * most / 127);
}

void quantize_activated(const LayerSteps& steps, std::size_t cols, const float* in,
                        std::int8_t* codes, float& step) {
  const double unit = std::ldexp(1.0, steps.activation_exponent);
  const double offset = std::ldexp(steps.activation_offset_q14, -14);
  std::vector<std::int32_t> row(cols);
  std::int32_t most = 1;
  for (std::size_t c = 0; c < cols; ++c) {
    row[c] = std::max(0, round_to_int((static_cast<double>(in[c]) + offset) * unit, 32767));
    most = std::max(most, row[c]);
  }
  const RowScale scale = row_scale(most, 255);
  for (std::size_t c = 0; c < cols; ++c) {
    codes[c] = static_cast<std::int8_t>(quantize_row_value(row[c], scale) - 128);
  }
  step = static_cast<float>(most / (255 * unit));
}

class RowRecorder {
 public:
  RowRecorder(const std::vector<LayerSteps>& steps, std::size_t tokens, std::size_t max_rows,
              Workers& workers)
      : steps_(steps),
        tokens_(tokens),
        kept_(std::min(tokens, max_rows)),
        workers_(workers),
        layers_(steps.size()) {}

  void see(const Activation& a) {
    // A chunk's rows are numbered when its first point comes by.
    if (a.point == ActivationPoint::kEmbeddingSum) {
      first_row_ += chunk_rows_;
      chunk_rows_ = a.rows;
      return;
    }
    const auto l = static_cast<std::size_t>(a.layer);
    switch (a.point) {
      case ActivationPoint::kLayerInput:
        return add(layers_[l].input, a, 0, [&](const float* in, std::int8_t* codes, float& step) {
          quantize_static(steps_[l].input, in, codes, step);
        });
      case ActivationPoint::kContext:
        return add(layers_[l].context, a, 0, [&](const float* in, std::int8_t* codes, float& step) {
          quantize_context(steps_[l].context, in, codes, step);
        });
      case ActivationPoint::kFfnInput:
        return add(layers_[l].ffn_input, a, 0,
                   [&](const float* in, std::int8_t* codes, float& step) {
                     quantize_static(steps_[l].ffn_input, in, codes, step);
                   });
      case ActivationPoint::kFfnActivated:
        return add(layers_[l].activated, a, 128,
                   [&](const float* in, std::int8_t* codes, float& step) {
                     quantize_activated(steps_[l], a.cols, in, codes, step);
                   });
      default:
        return;
    }
  }

  std::vector<LayerRows> take() {
    for (LayerRows& layer : layers_) {
      for (QuantizedRows* rows : {&layer.input, &layer.context, &layer.ffn_input, &layer.activated})
        finish(*rows);
    }
    return std::move(layers_);
  }

 private:
  // Rows kept before row `row` of all.
  std::size_t kept_before(std::size_t row) const { return row * kept_ / tokens_; }

  template <typename Quantize>
  void add(QuantizedRows& out, const Activation& a, int code_offset, const Quantize& quantize) {
    if (out.codes.empty()) {
      out.rows = kept_;
      out.cols = a.cols;
      out.code_offset = code_offset;
      out.codes.resize(kept_ * a.cols);
      out.row_step.resize(kept_);
      out.real_mean.assign(a.cols, 0.0);
    }
    std::vector<std::size_t> chosen;  // rows of this chunk
    for (std::size_t r = 0; r < a.rows; ++r) {
      if (kept_before(first_row_ + r + 1) > kept_before(first_row_ + r)) chosen.push_back(r);
    }
    const std::size_t first_kept = kept_before(first_row_);
    workers_.run((chosen.size() + 15) / 16, [&](std::size_t block) {
      for (std::size_t i = block * 16; i < std::min(chosen.size(), (block + 1) * 16); ++i) {
        quantize(a.data + chosen[i] * a.cols, out.codes.data() + (first_kept + i) * a.cols,
                 out.row_step[first_kept + i]);
      }
    });
    workers_.run((a.cols + kColumnTile - 1) / kColumnTile, [&](std::size_t tile) {
      const std::size_t end = std::min(a.cols, (tile + 1) * kColumnTile);
      for (const std::size_t r : chosen) {
        const float* row = a.data + r * a.cols;
        for (std::size_t c = tile * kColumnTile; c < end; ++c) {
          out.real_mean[c] += static_cast<double>(row[c]);
        }
      }
    });
  }

  void finish(QuantizedRows& rows) {
    const auto count = static_cast<double>(rows.rows);
    rows.folded_mean.assign(rows.cols, 0.0);
    workers_.run((rows.cols + kColumnTile - 1) / kColumnTile, [&](std::size_t tile) {
      const std::size_t from = tile * kColumnTile, end = std::min(rows.cols, from + kColumnTile);
      for (std::size_t r = 0; r < rows.rows; ++r) {
        const std::int8_t* codes = rows.codes.data() + r * rows.cols;
        const double step = static_cast<double>(rows.row_step[r]);
        for (std::size_t c = from; c < end; ++c) {
          rows.folded_mean[c] += (codes[c] + rows.code_offset) * step;
        }
      }
      for (std::size_t c = from; c < end; ++c) {
        rows.folded_mean[c] /= count;
        rows.real_mean[c] /= count;
      }
    });
  }

  const std::vector<LayerSteps>& steps_;
  std::size_t tokens_, kept_;
  Workers& workers_;
  std::vector<LayerRows> layers_;
  std::size_t first_row_ = 0, chunk_rows_ = 0;
};

}  // namespace

std::vector<LayerRows> collect_rows(FloatModel& model, const std::vector<LayerSteps>& steps,
                                    const TokenBatch& texts, std::size_t max_rows,
                                    Workers& workers) {
  RowRecorder recorder(steps, texts.ids.size(), max_rows, workers);
  const Observer observer = [&](const Activation& a) { recorder.see(a); };
  model.forward(texts, &observer);
  return recorder.take();
}

}  // namespace embert::convert
