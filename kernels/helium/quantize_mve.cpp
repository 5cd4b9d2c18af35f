// SPDX-License-Identifier: Apache-2.0
// Dynamic quantisation, 8 columns at a time in 16-bit lanes. Lanes beyond a row are zero, which is
// what the contract wants in the bytes there. VQDMULH gives x r / 2^15 and VMULH x r / 2^16, so one
// rounding shift is left of the shift by 22.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

// The largest magnitude, at least 1.
EMBERT_INLINE int32_t row_maximum(const int16_t* src, size_t k) {
  uint16_t largest = 1;
  by_eights(k,
            [&](size_t c, auto lanes) { largest = vmaxavq_s16(largest, load8(src + c, lanes)); });
  return largest;
}

}  // namespace

void quantize_s8_s16_mve(const QuantizeS8S16Args& all) {
  const QuantizeS8S16Args args = all;  // a copy, which no store can change
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.src_stride;
    uint8_t* dst = args.dst + i * args.dst_stride;
    args.row_max[i] = row_maximum(src, args.k);
    const RowScale scale = row_scale(args.row_max[i], 127);
    const int16_t r = static_cast<int16_t>(scale.r);
    by_eights(args.k, [&](size_t c, auto lanes) {
      const int16x8_t x = vshlq_r_s16(load8(src + c, lanes), scale.z);
      store8(dst + c, vrshrq_n_s16(vqdmulhq_n_s16(x, r), 7), lanes);
    });
  }
}

void quantize_u8_u16_mve(const QuantizeU8U16Args& all) {
  const QuantizeU8U16Args args = all;
  const uint16x8_t flip = vdupq_n_u16(kUnsignedLhsFlip);
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = reinterpret_cast<const int16_t*>(args.src) + i * args.src_stride;
    uint8_t* dst = args.dst + i * args.dst_stride;
    args.row_max[i] = row_maximum(src, args.k);
    const RowScale scale = row_scale(args.row_max[i], 255);
    const uint16x8_t r = vdupq_n_u16(static_cast<uint16_t>(scale.r));
    by_eights(args.k, [&](size_t c, auto lanes) {
      const int16x8_t x = vshlq_r_s16(load8(src + c, lanes), scale.z);
      const uint16x8_t q = vrshrq_n_u16(vmulhq_u16(vreinterpretq_u16_s16(x), r), 6);
      store8(dst + c, vreinterpretq_s16_u16(veorq_u16(q, flip)), lanes);
    });
  }
}

}  // namespace embert
