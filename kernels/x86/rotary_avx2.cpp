// SPDX-License-Identifier: Apache-2.0
// Rotary positions of 8 pairs of channels, tails by the reference arithmetic. A pair shares a lane
// as two 16-bit values, so that VPMADDWD makes each of its two sums.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx2.hpp"

namespace embert {
namespace {

// The lower half of each lane of a beside that of b.
EMBERT_INLINE __m256i pairs(__m256i a, __m256i b) {
  return _mm256_blend_epi16(a, _mm256_slli_epi32(b, 16), 0xaa);
}
EMBERT_INLINE __m256i shift_14(__m256i x) {
  return _mm256_srai_epi32(_mm256_add_epi32(x, _mm256_set1_epi32(1 << 13)), 14);
}
EMBERT_INLINE __m256i to_16_bits(__m256i x) {
  return _mm256_max_epi32(_mm256_min_epi32(x, _mm256_set1_epi32(32767)), _mm256_set1_epi32(-32767));
}
EMBERT_INLINE __m256i load_angles(const int16_t* p) {
  return _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

template <bool kRight>
void run(const RotateArgs& args) {
  const Shifts256 shifts = make_shifts<kRight>(args.factor.left, args.factor.right);
  const size_t half = args.n / 2;
  size_t i = 0;
  for (; i + 8 <= half; i += 8) {
    const Multipliers256 ma = load_multipliers(args.factor.multiplier + i);
    const Multipliers256 mb = load_multipliers(args.factor.multiplier + half + i);
    for (size_t t = 0; t < args.m; ++t) {
      int32_t* acc = args.acc + t * args.acc_stride + i;
      const int16_t* angles = args.angles + t * args.n + i;
      const __m256i ab = pairs(to_16_bits(requantize<kRight>(load(acc), ma, shifts)),
                               to_16_bits(requantize<kRight>(load(acc + half), mb, shifts)));
      const __m256i cosine = load_angles(angles), sine = load_angles(angles + half);
      const __m256i minus_sine = _mm256_sub_epi32(_mm256_setzero_si256(), sine);
      store(acc, shift_14(_mm256_madd_epi16(ab, pairs(cosine, minus_sine))));
      store(acc + half, shift_14(_mm256_madd_epi16(ab, pairs(sine, cosine))));
    }
  }
  for (; i < half; ++i) {
    for (size_t t = 0; t < args.m; ++t) {
      rotate_columns(args.factor, args.acc + t * args.acc_stride, args.angles + t * args.n, i,
                     half);
    }
  }
}

}  // namespace

void rotate_avx2(const RotateArgs& args) {
  if (args.factor.right != 0) {
    run<true>(args);
  } else {
    run<false>(args);
  }
}

}  // namespace embert
