// SPDX-License-Identifier: Apache-2.0
// Rotary positions of 16 pairs of channels: rotary_avx2.cpp on 512-bit registers with masked tails.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx512.hpp"

namespace embert {
namespace {

// The lower half of each lane of a beside that of b.
EMBERT_INLINE __m512i pairs(__m512i a, __m512i b) {
  return _mm512_mask_blend_epi16(0xaaaaaaaa, a, _mm512_slli_epi32(b, 16));
}
EMBERT_INLINE __m512i shift_14(__m512i x) {
  return _mm512_srai_epi32(_mm512_add_epi32(x, _mm512_set1_epi32(1 << 13)), 14);
}
EMBERT_INLINE __m512i to_16_bits(__m512i x) {
  return _mm512_max_epi32(_mm512_min_epi32(x, _mm512_set1_epi32(32767)), _mm512_set1_epi32(-32767));
}
EMBERT_INLINE Multipliers512 masked_multipliers(const int32_t* multiplier, __mmask16 mask) {
  const __m512i m = _mm512_maskz_loadu_epi32(mask, multiplier);
  return {m, odd_lanes(m)};
}

template <bool kRight>
void run(const RotateArgs& args) {
  const Shifts512 shifts = make_shifts<kRight>(args.factor);
  const size_t half = args.n / 2;
  for (size_t i = 0; i < half; i += 16) {
    const __mmask16 mask = mask16(half - i);
    const Multipliers512 ma = masked_multipliers(args.factor.multiplier + i, mask);
    const Multipliers512 mb = masked_multipliers(args.factor.multiplier + half + i, mask);
    int32_t* acc = args.acc + i;
    const int16_t* angles = args.angles + i;
    for (size_t t = 0; t < args.m; ++t, acc += args.acc_stride, angles += args.n) {
      const __m512i a = requantize<kRight>(_mm512_maskz_loadu_epi32(mask, acc), ma, shifts);
      const __m512i b = requantize<kRight>(_mm512_maskz_loadu_epi32(mask, acc + half), mb, shifts);
      const __m512i ab = pairs(to_16_bits(a), to_16_bits(b));
      const __m512i cosine = _mm512_cvtepi16_epi32(_mm256_maskz_loadu_epi16(mask, angles));
      const __m512i sine = _mm512_cvtepi16_epi32(_mm256_maskz_loadu_epi16(mask, angles + half));
      const __m512i minus_sine = _mm512_sub_epi32(_mm512_setzero_si512(), sine);
      _mm512_mask_storeu_epi32(acc, mask,
                               shift_14(_mm512_madd_epi16(ab, pairs(cosine, minus_sine))));
      _mm512_mask_storeu_epi32(acc + half, mask,
                               shift_14(_mm512_madd_epi16(ab, pairs(sine, cosine))));
    }
  }
}

}  // namespace

void rotate_avx512vnni(const RotateArgs& args) {
  if (args.factor.right != 0) {
    run<true>(args);
  } else {
    run<false>(args);
  }
}

}  // namespace embert
