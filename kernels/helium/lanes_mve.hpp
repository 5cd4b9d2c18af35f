// SPDX-License-Identifier: Apache-2.0
// Shared by the operations: 4 lanes of 32 bits. VQRDMULH is QMUL of fixed_point.hpp: (2 a b + 2^31)
// >> 32. It saturates only where both are -2^31, which QMUL excludes. VRSHL by a negative count is
// RS; its inner sum is wider than a lane. Loads widen to 32 bits and stores narrow, so lanes have
// 32 bits everywhere. In a tail a predicate keeps the lanes beyond the row from being read or
// written. Only tails have a predicate, because gcc 12 takes four instructions for it.
#pragma once

#if !(__ARM_FEATURE_MVE & 1)
#error "this file needs a processor with Helium (kernels/sources.cmake)"
#endif
#include <arm_mve.h>

#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert {
namespace {

#define EMBERT_INLINE static inline __attribute__((always_inline))

/// All lanes, or the first left ones: the rest of a row.
struct AllLanes {};
struct FirstLanes {
  size_t left;
};

/// Calls part(c, lanes) for columns c = 0, 4, ... or 0, 8, ... below n.
template <typename Part>
EMBERT_INLINE void by_fours(size_t n, Part part) {
  size_t c = 0;
  for (; c + 4 <= n; c += 4) part(c, AllLanes{});
  if (c < n) part(c, FirstLanes{n - c});
}
template <typename Part>
EMBERT_INLINE void by_eights(size_t n, Part part) {
  size_t c = 0;
  for (; c + 8 <= n; c += 8) part(c, AllLanes{});
  if (c < n) part(c, FirstLanes{n - c});
}

/// Loads, with zeros in the lanes that do not count.
EMBERT_INLINE int32x4_t load4(const int8_t* p, AllLanes) { return vldrbq_s32(p); }
EMBERT_INLINE int32x4_t load4(const int8_t* p, FirstLanes lanes) {
  return vldrbq_z_s32(p, vctp32q(lanes.left));
}
EMBERT_INLINE int32x4_t load4(const int16_t* p, AllLanes) { return vldrhq_s32(p); }
EMBERT_INLINE int32x4_t load4(const int16_t* p, FirstLanes lanes) {
  return vldrhq_z_s32(p, vctp32q(lanes.left));
}
EMBERT_INLINE int32x4_t load4(const int32_t* p, AllLanes) { return vldrwq_s32(p); }
EMBERT_INLINE int32x4_t load4(const int32_t* p, FirstLanes lanes) {
  return vldrwq_z_s32(p, vctp32q(lanes.left));
}
EMBERT_INLINE int16x8_t load8(const int16_t* p, AllLanes) { return vldrhq_s16(p); }
EMBERT_INLINE int16x8_t load8(const int16_t* p, FirstLanes lanes) {
  return vldrhq_z_s16(p, vctp16q(lanes.left));
}
EMBERT_INLINE int32x4_t only(int32x4_t x, AllLanes) { return x; }
EMBERT_INLINE int32x4_t only(int32x4_t x, FirstLanes lanes) {
  return vpselq_s32(x, vdupq_n_s32(0), vctp32q(lanes.left));
}
EMBERT_INLINE void store4(int16_t* p, int32x4_t x, AllLanes) { vstrhq_s32(p, x); }
EMBERT_INLINE void store4(int16_t* p, int32x4_t x, FirstLanes lanes) {
  vstrhq_p_s32(p, x, vctp32q(lanes.left));
}
EMBERT_INLINE void store4(int32_t* p, int32x4_t x, AllLanes) { vstrwq_s32(p, x); }
EMBERT_INLINE void store4(int32_t* p, int32x4_t x, FirstLanes lanes) {
  vstrwq_p_s32(p, x, vctp32q(lanes.left));
}

/// Stores the bytes of 8 columns, or of the rest of a row, padded to a multiple of 4.
EMBERT_INLINE void store8(uint8_t* p, int16x8_t x, AllLanes) {
  vstrbq_u16(p, vreinterpretq_u16_s16(x));
}
EMBERT_INLINE void store8(uint8_t* p, int16x8_t x, FirstLanes lanes) {
  vstrbq_p_u16(p, vreinterpretq_u16_s16(x), vctp16q(pad_inputs(lanes.left)));
}

EMBERT_INLINE int32x4_t clamp4(int32x4_t x, int32_t lowest, int32_t highest) {
  return vmaxq_s32(vminq_s32(x, vdupq_n_s32(highest)), vdupq_n_s32(lowest));
}

/// requantize() of fixed_point.hpp. VRSHL by 0 and VQSHL by 0 change nothing.
EMBERT_INLINE int32x4_t requantize4(int32x4_t x, int32x4_t multiplier, int32_t left,
                                    int32_t right) {
  return vrshlq_n_s32(vqrdmulhq_s32(vqshlq_r_s32(x, left), multiplier), -right);
}

/// requantize() of columns c to c + 3 of a row, which is readable to pad_columns(n).
EMBERT_INLINE int32x4_t columns4(const Requantize& factor, const int32_t* acc, size_t c) {
  return requantize4(vldrwq_s32(acc + c), vldrwq_s32(factor.multiplier + c), factor.left,
                     factor.right);
}

/// sat16() in the lower half of each lane.
EMBERT_INLINE int32x4_t saturate16(int32x4_t x) {
  return vreinterpretq_s32_s16(vqmovnbq_s32(vreinterpretq_s16_s32(x), x));
}

}  // namespace
}  // namespace embert
