// SPDX-License-Identifier: Apache-2.0
// The intrinsics of AArch64 that the kernels use and ARMv7 lacks, under their AArch64 names: lists
// of vectors, upper halves, sums across lanes, tables of 64 bytes. Included by lanes_neon.hpp.
#pragma once

// These are macros, because the shift must be a constant.
#define vshll_high_n_u8(x, n) vshll_n_u8(vget_high_u8(x), n)
#define vshll_high_n_s16(x, n) vshll_n_s16(vget_high_s16(x), n)
#define vshrn_high_n_u16(low, x, n) vcombine_u8(low, vshrn_n_u16(x, n))
#define vrshrn_high_n_s16(low, x, n) vcombine_s8(low, vrshrn_n_s16(x, n))
#define vqrshrn_high_n_s16(low, x, n) vcombine_s8(low, vqrshrn_n_s16(x, n))
#define vqrshrn_high_n_s32(low, x, n) vcombine_s16(low, vqrshrn_n_s32(x, n))

namespace embert {
namespace {

// Upper halves.
EMBERT_INLINE int16x8_t vmull_high_s8(int8x16_t a, int8x16_t b) {
  return vmull_s8(vget_high_s8(a), vget_high_s8(b));
}
EMBERT_INLINE int16x8_t vmlal_high_s8(int16x8_t sum, int8x16_t a, int8x16_t b) {
  return vmlal_s8(sum, vget_high_s8(a), vget_high_s8(b));
}
EMBERT_INLINE int32x4_t vmull_high_s16(int16x8_t a, int16x8_t b) {
  return vmull_s16(vget_high_s16(a), vget_high_s16(b));
}
EMBERT_INLINE int32x4_t vmlal_high_s16(int32x4_t sum, int16x8_t a, int16x8_t b) {
  return vmlal_s16(sum, vget_high_s16(a), vget_high_s16(b));
}
EMBERT_INLINE int32x4_t vaddl_high_s16(int16x8_t a, int16x8_t b) {
  return vaddl_s16(vget_high_s16(a), vget_high_s16(b));
}
EMBERT_INLINE int16x8_t vaddw_high_s8(int16x8_t a, int8x16_t b) {
  return vaddw_s8(a, vget_high_s8(b));
}
EMBERT_INLINE int32x4_t vaddw_high_s16(int32x4_t a, int16x8_t b) {
  return vaddw_s16(a, vget_high_s16(b));
}
EMBERT_INLINE int32x4_t vmovl_high_s16(int16x8_t x) { return vmovl_s16(vget_high_s16(x)); }
EMBERT_INLINE int8x16_t vqmovn_high_s16(int8x8_t low, int16x8_t x) {
  return vcombine_s8(low, vqmovn_s16(x));
}
EMBERT_INLINE int16x8_t vqmovn_high_s32(int16x4_t low, int32x4_t x) {
  return vcombine_s16(low, vqmovn_s32(x));
}
EMBERT_INLINE uint16x8_t vaddhn_high_u32(uint16x4_t low, uint32x4_t a, uint32x4_t b) {
  return vcombine_u16(low, vaddhn_u32(a, b));
}

// Comparison with 0.
EMBERT_INLINE uint16x8_t vcltzq_s16(int16x8_t x) { return vcltq_s16(x, vdupq_n_s16(0)); }

// Across lanes.
EMBERT_INLINE int32x4_t vpaddq_s32(int32x4_t a, int32x4_t b) {
  return vcombine_s32(vpadd_s32(vget_low_s32(a), vget_high_s32(a)),
                      vpadd_s32(vget_low_s32(b), vget_high_s32(b)));
}
EMBERT_INLINE uint64_t vaddvq_u64(uint64x2_t x) {
  return vget_lane_u64(vadd_u64(vget_low_u64(x), vget_high_u64(x)), 0);
}
EMBERT_INLINE int64_t vaddlvq_s32(int32x4_t x) {
  const int64x2_t sums = vpaddlq_s32(x);
  return vget_lane_s64(vadd_s64(vget_low_s64(sums), vget_high_s64(sums)), 0);
}
EMBERT_INLINE uint32_t vaddvq_u32(uint32x4_t x) {
  const uint32x2_t sums = vadd_u32(vget_low_u32(x), vget_high_u32(x));
  return vget_lane_u32(vpadd_u32(sums, sums), 0);
}
EMBERT_INLINE int32_t vaddlvq_s16(int16x8_t x) {
  return static_cast<int32_t>(vaddvq_u32(vreinterpretq_u32_s32(vpaddlq_s16(x))));
}
EMBERT_INLINE int32_t vmaxvq_s32(int32x4_t x) {
  const int32x2_t highest = vmax_s32(vget_low_s32(x), vget_high_s32(x));
  return vget_lane_s32(vpmax_s32(highest, highest), 0);
}
EMBERT_INLINE int16_t vmaxvq_s16(int16x8_t x) {
  int16x4_t highest = vmax_s16(vget_low_s16(x), vget_high_s16(x));
  highest = vpmax_s16(highest, highest);
  return vget_lane_s16(vpmax_s16(highest, highest), 0);
}
EMBERT_INLINE uint8_t vmaxv_u8(uint8x8_t x) {
  x = vpmax_u8(x, x);
  x = vpmax_u8(x, x);
  return vget_lane_u8(vpmax_u8(x, x), 0);
}

// Orders of bytes.
EMBERT_INLINE int8x8_t vqtbl1_s8(int8x16_t table, uint8x8_t i) {
  return vtbl2_s8({{vget_low_s8(table), vget_high_s8(table)}}, vreinterpret_s8_u8(i));
}
EMBERT_INLINE uint8x16_t vqtbl1q_u8(uint8x16_t table, uint8x16_t i) {
  const uint8x8x2_t bytes = {{vget_low_u8(table), vget_high_u8(table)}};
  return vcombine_u8(vtbl2_u8(bytes, vget_low_u8(i)), vtbl2_u8(bytes, vget_high_u8(i)));
}
EMBERT_INLINE uint8x16_t vzip1q_u8(uint8x16_t a, uint8x16_t b) { return vzipq_u8(a, b).val[0]; }
EMBERT_INLINE uint8x16_t vzip2q_u8(uint8x16_t a, uint8x16_t b) { return vzipq_u8(a, b).val[1]; }
EMBERT_INLINE uint8x16_t vuzp1q_u8(uint8x16_t a, uint8x16_t b) { return vuzpq_u8(a, b).val[0]; }
EMBERT_INLINE uint8x16_t vuzp2q_u8(uint8x16_t a, uint8x16_t b) { return vuzpq_u8(a, b).val[1]; }
EMBERT_INLINE int64x2_t vzip1q_s64(int64x2_t a, int64x2_t b) {
  return vcombine_s64(vget_low_s64(a), vget_low_s64(b));
}
EMBERT_INLINE int64x2_t vzip2q_s64(int64x2_t a, int64x2_t b) {
  return vcombine_s64(vget_high_s64(a), vget_high_s64(b));
}
EMBERT_INLINE int8x16_t vuzp1q_s8(int8x16_t a, int8x16_t b) { return vuzpq_s8(a, b).val[0]; }

// Two lists as VTBX reads them, so that no look-up has to copy registers into a list.
struct ByteTable {
  uint8x8x4_t first, second;
};
EMBERT_INLINE ByteTable load_table(const uint8_t* p) {
  return {{{vld1_u8(p), vld1_u8(p + 8), vld1_u8(p + 16), vld1_u8(p + 24)}},
          {{vld1_u8(p + 32), vld1_u8(p + 40), vld1_u8(p + 48), vld1_u8(p + 56)}}};
}
EMBERT_INLINE uint8x8_t look_up(const ByteTable& table, uint8x8_t i) {
  return vtbx4_u8(vtbl4_u8(table.first, i), table.second, vsub_u8(i, vdup_n_u8(32)));
}
EMBERT_INLINE uint8x8_t look_up(const ByteTable& table, uint8x8_t i, uint8x8_t otherwise) {
  return vtbx4_u8(vtbx4_u8(otherwise, table.first, i), table.second, vsub_u8(i, vdup_n_u8(32)));
}
EMBERT_INLINE uint8x16_t look_up(const ByteTable& table, uint8x16_t i) {
  return vcombine_u8(look_up(table, vget_low_u8(i)), look_up(table, vget_high_u8(i)));
}
EMBERT_INLINE uint8x16_t look_up(const ByteTable& table, uint8x16_t i, uint8x16_t otherwise) {
  return vcombine_u8(look_up(table, vget_low_u8(i), vget_low_u8(otherwise)),
                     look_up(table, vget_high_u8(i), vget_high_u8(otherwise)));
}

// A list that clang has.
#if !defined(__clang__)
EMBERT_INLINE int32x4x4_t vld4q_dup_s32(const int32_t* p) {
  return {{vld1q_dup_s32(p), vld1q_dup_s32(p + 1), vld1q_dup_s32(p + 2), vld1q_dup_s32(p + 3)}};
}
#endif
// Lists that clang and gcc 14 have.
#if !defined(__clang__) && __GNUC__ < 14
EMBERT_INLINE int32x4x4_t vld1q_s32_x4(const int32_t* p) {
  return {{vld1q_s32(p), vld1q_s32(p + 4), vld1q_s32(p + 8), vld1q_s32(p + 12)}};
}
EMBERT_INLINE int16x8x2_t vld1q_s16_x2(const int16_t* p) {
  return {{vld1q_s16(p), vld1q_s16(p + 8)}};
}
EMBERT_INLINE int16x8x4_t vld1q_s16_x4(const int16_t* p) {
  return {{vld1q_s16(p), vld1q_s16(p + 8), vld1q_s16(p + 16), vld1q_s16(p + 24)}};
}
EMBERT_INLINE void vst1q_u8_x2(uint8_t* p, uint8x16x2_t x) {
  vst1q_u8(p, x.val[0]);
  vst1q_u8(p + 16, x.val[1]);
}
EMBERT_INLINE void vst1q_u8_x4(uint8_t* p, uint8x16x4_t x) {
  vst1q_u8(p, x.val[0]);
  vst1q_u8(p + 16, x.val[1]);
  vst1q_u8(p + 32, x.val[2]);
  vst1q_u8(p + 48, x.val[3]);
}
#endif

}  // namespace
}  // namespace embert
