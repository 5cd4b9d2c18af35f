// SPDX-License-Identifier: Apache-2.0
// Dynamic quantisation, 64 columns at a time in 16-bit lanes. SQDMULH gives x r / 2^15, so a
// rounding shift by 7 is left of the shift by 22. An unsigned r in 2^15..2^16 is used as r - 2^15,
// and x is added. About 60 instructions for 64 elements.
#include "kernels/arm/row_to_bytes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

template <typename Source>
EMBERT_INLINE int32_t row_maximum(const Source* src, size_t k) {
  const bool is_signed = Source(-1) < 0;
  int16x8_t largest[4];
  for (int16x8_t& x : largest) x = vdupq_n_s16(1);
  size_t c = 0;
#pragma GCC unroll 2
  for (; c + 32 <= k; c += 32) {
    const int16x8x4_t x = load32(src + c);
#pragma GCC unroll 4
    for (size_t v = 0; v < 4; ++v) {
      largest[v] = vmaxq_s16(largest[v], is_signed ? vabsq_s16(x.val[v]) : x.val[v]);
    }
  }
  for (; c + 8 <= k; c += 8) {
    const int16x8_t x = vld1q_s16(reinterpret_cast<const int16_t*>(src + c));
    largest[0] = vmaxq_s16(largest[0], is_signed ? vabsq_s16(x) : x);
  }
  int32_t result =
      vmaxvq_s16(vmaxq_s16(vmaxq_s16(largest[0], largest[1]), vmaxq_s16(largest[2], largest[3])));
  for (; c < k; ++c) {
    const int32_t magnitude = src[c] < 0 ? -src[c] : src[c];
    result = magnitude > result ? magnitude : result;
  }
  return result;
}

}  // namespace

void quantize_s8_s16_neon(const QuantizeS8S16Args& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.src_stride;
    args.row_max[i] = row_maximum(src, args.k);
    const RowScale scale = row_scale(args.row_max[i], 127);
    const int16x8_t z = vdupq_n_s16(static_cast<int16_t>(scale.z));
    const int16x8_t r = vdupq_n_s16(static_cast<int16_t>(scale.r));
    const auto product = [&](int16x8_t x) { return vqdmulhq_s16(vshlq_s16(x, z), r); };
    row_to_bytes(
        src, args.k, args.dst + i * args.dst_stride,
        [&](int16x8_t a, int16x8_t b) {
          return vreinterpretq_u8_s8(vrshrn_high_n_s16(vrshrn_n_s16(product(a), 7), product(b), 7));
        },
        [&](int32_t x) { return quantize_row_value(x, scale); });
  }
}

void quantize_u8_u16_neon(const QuantizeU8U16Args& args) {
  const uint8x16_t flip = vdupq_n_u8(kUnsignedLhsFlip);
  for (size_t i = 0; i < args.m; ++i) {
    const uint16_t* src = args.src + i * args.src_stride;
    args.row_max[i] = row_maximum(src, args.k);
    const RowScale scale = row_scale(args.row_max[i], 255);
    const int16x8_t z = vdupq_n_s16(static_cast<int16_t>(scale.z));
    const int16x8_t r = vdupq_n_s16(static_cast<int16_t>(scale.r - 32768));
    const auto product = [&](int16x8_t x) {
      const int16x8_t shifted = vshlq_s16(x, z);
      return vaddq_s16(shifted, vqdmulhq_s16(shifted, r));
    };
    row_to_bytes(
        src, args.k, args.dst + i * args.dst_stride,
        [&](int16x8_t a, int16x8_t b) {
          const int8x16_t bytes = vrshrn_high_n_s16(vrshrn_n_s16(product(a), 7), product(b), 7);
          return veorq_u8(vreinterpretq_u8_s8(bytes), flip);
        },
        [&](int32_t x) { return quantize_row_value(x, scale); });
  }
}

}  // namespace embert
