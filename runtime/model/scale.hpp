// SPDX-License-Identifier: Apache-2.0
// Scales of blobs and callers: the bits of a float32, computed without a float unit.
#pragma once

#include <stdint.h>

namespace embert {

/// Positive, normal and finite.
static inline bool scale_ok(uint32_t float_bits) {
  const uint32_t exponent = float_bits >> 23;  // with the sign
  return exponent >= 1 && exponent <= 254;
}

/// from / to with scale 2^-16, at most 2^31 - 1. Both must be scale_ok.
static inline int32_t scale_ratio_q16(uint32_t from, uint32_t to) {
  const uint64_t numerator = (from & 0x7fffff) | 0x800000, denominator = (to & 0x7fffff) | 0x800000;
  // The quotient of the mantissas, in (1/2, 2), with 40 binary places.
  const uint64_t quotient = (numerator << 40) / denominator;
  const int32_t shift = 24 - (static_cast<int32_t>(from >> 23) - static_cast<int32_t>(to >> 23));
  if (shift > 41) return 0;
  if (shift <= 9) return INT32_MAX;
  const uint64_t ratio = (quotient + (uint64_t{1} << (shift - 1))) >> shift;
  return ratio < INT32_MAX ? static_cast<int32_t>(ratio) : INT32_MAX;
}

}  // namespace embert
