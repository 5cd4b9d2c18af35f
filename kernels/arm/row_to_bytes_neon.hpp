// SPDX-License-Identifier: Apache-2.0
// A row of 16-bit values to the bytes of a left operand, 64 columns at a time; tails by the
// reference arithmetic.
#pragma once

#include "kernels/arithmetic/layout.hpp"
#include "kernels/arm/lanes_neon.hpp"

namespace embert {
namespace {

EMBERT_INLINE int16x8x4_t load32(const int16_t* p) { return vld1q_s16_x4(p); }
EMBERT_INLINE int16x8x4_t load32(const uint16_t* p) {
  return vld1q_s16_x4(reinterpret_cast<const int16_t*>(p));  // below 2^15
}

/// Loads 32 values and moves p behind them.
template <typename Source>
EMBERT_INLINE int16x8x4_t next32(const Source*& p) {
  const int16x8x4_t x = load32(p);
  advance(p, 32);
  return x;
}

/// pack makes 16 bytes of 16 columns, flip included; one(value) computes the same for a column of
/// the tail, without the flip. Signed sources have signed bytes, unsigned ones unsigned bytes.
template <typename Source, typename Pack, typename One>
EMBERT_INLINE void row_to_bytes(const Source* src, size_t k, uint8_t* dst, Pack pack, One one) {
  constexpr uint8_t flip = Source(-1) < Source(0) ? kSignedLhsFlip : kUnsignedLhsFlip;
  size_t c = k / 64 * 64;
  uint8_t* to = dst;
  for (const Source *p = src, *end = src + c; p != end; to += 64) {
    const int16x8x4_t x = next32(p), y = next32(p);
    const uint8x16x4_t bytes = {{pack(x.val[0], x.val[1]), pack(x.val[2], x.val[3]),
                                 pack(y.val[0], y.val[1]), pack(y.val[2], y.val[3])}};
    vst1q_u8_x4(to, bytes);
  }
  // The last 32 columns may overlap columns that are done. With 64 or more, the bytes written so
  // far do not lie in the source of the last 32, even where dst is src.
  for (; c + 32 <= k || (c < k && k >= 64); c += 32) {
    if (c + 32 > k) c = k - 32;
    const int16x8x4_t x = load32(src + c);
    const uint8x16x2_t bytes = {{pack(x.val[0], x.val[1]), pack(x.val[2], x.val[3])}};
    vst1q_u8_x2(dst + c, bytes);
  }
  for (; c < k; ++c) {
    const int32_t value = one(src[c]);  // read before dst[c], which may lie in src
    dst[c] = static_cast<uint8_t>(static_cast<uint8_t>(value) ^ flip);
  }
  for (; c < pad_inputs(k); ++c) dst[c] = flip;
}

}  // namespace
}  // namespace embert
