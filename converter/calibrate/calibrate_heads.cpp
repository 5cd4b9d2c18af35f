// SPDX-License-Identifier: Apache-2.0
#include "converter/calibrate/calibrate_heads.hpp"

#include <algorithm>
#include <cmath>

namespace embert::convert {
namespace {

constexpr std::size_t kMostRows = 4096;  // of what a head reads of every token

void append(Matrix& matrix, const float* data, std::size_t rows, std::size_t cols) {
  matrix.rows += rows;
  matrix.cols = cols;
  matrix.data.insert(matrix.data.end(), data, data + rows * cols);
}

}  // namespace

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

HeadRecorder::HeadRecorder(const ModelConfig& config, const ModelBatch& batch)
    : token_classifier_(config.token_classifier != TokenTask::kNone),
      last_stack_(static_cast<int>(config.stacks.size()) - 1),
      token_hidden_(batch.texts.ids.size(), kMostRows),
      encoder_hidden_(batch.sources.ids.size(), kMostRows) {}

void HeadRecorder::see(const Activation& a) {
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

HeadRanges HeadRecorder::take() {
  ranges_.token_hidden = token_hidden_.take();
  ranges_.encoder_hidden = encoder_hidden_.take();
  return std::move(ranges_);
}

}  // namespace embert::convert
