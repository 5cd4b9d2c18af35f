// SPDX-License-Identifier: Apache-2.0
// Exponential and logarithm in integers, with base 2: a logit that lies `distance` below the
// highest has the weight 2^-octaves, where octaves = distance * scale * log2(e) is in Q26.
#pragma once

#include <stdint.h>

#include "embert/embert_tasks.h"

namespace embert {

/// scale * log2(e) = mantissa * 2^(-shift - 26), mantissa in [2^31, 2^32), relative error below
/// 2^-31.
struct LogitRatio {
  uint32_t mantissa;
  int32_t shift;
};

/// Returns false and leaves the ratio alone where the scale is not a positive normal float32.
bool make_logit_ratio(embert_scale scale, LogitRatio* ratio);
/// The ratio of a scale that the validator has checked.
static inline LogitRatio logit_ratio(embert_scale scale) {
  LogitRatio ratio = {};
  make_logit_ratio(scale, &ratio);
  return ratio;
}

/// Octaves in Q26, saturated at kMaxOctaves (16384). They never decrease with the distance.
constexpr uint64_t kMaxOctaves = uint64_t{1} << 40;
uint64_t octaves_q26(uint32_t distance, LogitRatio ratio);

/// high - low, high >= low.
static constexpr uint32_t logit_distance(int32_t high, int32_t low) {
  return static_cast<uint32_t>(high) - static_cast<uint32_t>(low);
}

/// value * 2^-octaves for value < 2^63. Relative error below 3e-9, plus rounding by at most 1/2.
uint64_t times_exp2(uint64_t value, uint64_t octaves);

static inline uint64_t exp2_q40(uint64_t octaves) { return times_exp2(uint64_t{1} << 40, octaves); }
static inline uint32_t exp2_q30(uint64_t octaves) {
  return static_cast<uint32_t>((exp2_q40(octaves) + 512) >> 10);
}

/// log2(x) in Q26 for x >= 1, within 2^-26; exact for powers of two.
uint64_t log2_q26(uint64_t x);

}  // namespace embert
