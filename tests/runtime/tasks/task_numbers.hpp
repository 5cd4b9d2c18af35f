// SPDX-License-Identifier: Apache-2.0
// Scales and logits of tests, and what fixed-point results mean.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "embert/embert_tasks.h"

namespace embert::test {

inline embert_scale scale_of(float value) {
  embert_scale scale;
  static_assert(sizeof(value) == sizeof(scale.float_bits));
  std::memcpy(&scale.float_bits, &value, sizeof(value));
  return scale;
}

/// The scale in which tests store real logits: 2^-20.
inline constexpr float kTestScale = 1.0f / 1048576.0f;

inline std::int32_t quantize_logit(double logit) {
  return static_cast<std::int32_t>(std::lround(logit / double{kTestScale}));
}
inline std::vector<std::int32_t> quantize_logits(const std::vector<double>& logits) {
  std::vector<std::int32_t> result;
  for (const double logit : logits) result.push_back(quantize_logit(logit));
  return result;
}

inline double real(embert_q30 score) { return static_cast<double>(score) / 1073741824.0; }
inline double real_log(embert_log2_q26 log2_score) {
  return static_cast<double>(log2_score) / 67108864.0 * std::log(2.0);
}
inline embert_q30 q30(double value) {
  return static_cast<embert_q30>(std::lround(value * 1073741824.0));
}

}  // namespace embert::test
