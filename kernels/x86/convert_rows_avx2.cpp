// SPDX-License-Identifier: Apache-2.0
// 16 bits to 8: RS(x, 7) is one VPMULHRSW. 0.015 ns an element on Zen 5. Two planes of 16 columns
// take 9 instructions. Their sums are joined in 32 bits where no lane can overflow, else in 64.
// RS(256 high + low, s) is high << (8 - s) plus RS(low, s), which spares the arithmetic shift of 64
// bits that AVX2 does not have.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx2.hpp"
#include "kernels/x86/row_to_bytes_avx2.hpp"

namespace embert {
namespace {

/// Bytes of 16 lanes that fit 8 bits.
EMBERT_INLINE __m128i to_bytes(__m256i x) {
  const __m256i packed = _mm256_packs_epi16(x, x);
  return _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0xd8));
}

EMBERT_INLINE void store_bytes(uint8_t* dst, __m128i bytes) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(dst), bytes);
}

/// RS(x, shift) without overflow.
EMBERT_INLINE __m256i round_shift(__m256i x, int32_t shift) {
  if (shift == 0) return x;
  const __m256i half = _mm256_and_si256(_mm256_srai_epi32(x, shift - 1), _mm256_set1_epi32(1));
  return _mm256_add_epi32(_mm256_srai_epi32(x, shift), half);
}

/// sat32 of 64-bit lanes, in the lower halves.
EMBERT_INLINE __m256i saturate(__m256i x) {
  const __m256i highest = _mm256_set1_epi64x(INT32_MAX), lowest = _mm256_set1_epi64x(INT32_MIN);
  x = _mm256_blendv_epi8(x, highest, _mm256_cmpgt_epi64(x, highest));
  return _mm256_blendv_epi8(x, lowest, _mm256_cmpgt_epi64(lowest, x));
}

/// 4 columns: the sum in 64-bit lanes. low is shifted already.
EMBERT_INLINE __m256i join(__m128i high, __m128i low, __m128i bias, int32_t left) {
  const __m256i sum = _mm256_add_epi64(_mm256_slli_epi64(_mm256_cvtepi32_epi64(high), left),
                                       _mm256_cvtepi32_epi64(low));
  return saturate(_mm256_add_epi64(sum, _mm256_cvtepi32_epi64(bias)));
}

EMBERT_INLINE __m128i lower(__m256i x) { return _mm256_castsi256_si128(x); }
EMBERT_INLINE __m128i upper(__m256i x) { return _mm256_extracti128_si256(x, 1); }

}  // namespace

void convert_s8_s16_avx2(const ConvertS8S16Args& args) {
  const __m256i factor = _mm256_set1_epi16(1 << (15 - 7));
  for (size_t i = 0; i < args.m; ++i) {
    row_to_bytes<true>(
        args.src + i * args.src_stride, args.k, args.dst + i * args.dst_stride,
        [&](__m256i x) { return _mm256_mulhrs_epi16(x, factor); },
        [](int32_t x) { return sat8(shift_round(x, 7)); });
  }
}

void convert_s8x2_s16_avx2(const ConvertS8x2S16Args& args) {
  const __m256i bound = _mm256_set1_epi16(kValueBound), half = _mm256_set1_epi16(128);
  const __m256i least = _mm256_set1_epi16(-127);
  const __m128i flip = _mm_set1_epi8(static_cast<char>(args.flip));
  const __m256i lowest = _mm256_set1_epi16(-kValueBound);
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.src_stride;
    uint8_t* high = args.dst + 2 * i * args.dst_stride;
    uint8_t* low = high + args.dst_stride;
    size_t c = 0;
    for (; c + 16 <= args.k; c += 16) {
      const __m256i v = _mm256_max_epi16(_mm256_min_epi16(load(src + c), bound), lowest);
      const __m256i h = _mm256_srai_epi16(_mm256_add_epi16(v, half), 8);
      const __m256i l = _mm256_max_epi16(_mm256_sub_epi16(v, _mm256_slli_epi16(h, 8)), least);
      store_bytes(high + c, _mm_xor_si128(to_bytes(h), flip));
      store_bytes(low + c, _mm_xor_si128(to_bytes(l), flip));
    }
    for (; c < pad_inputs(args.k); ++c) {
      const int32_t v = c < args.k ? clamp<int32_t>(src[c], -kValueBound, kValueBound) : 0;
      high[c] = static_cast<uint8_t>(static_cast<uint8_t>(plane_high(v)) ^ args.flip);
      low[c] = static_cast<uint8_t>(static_cast<uint8_t>(plane_low(v)) ^ args.flip);
    }
  }
}

void convert_s32_s32x2_avx2(const ConvertS32S32x2Args& args) {
  const size_t whole = args.n / 8 * 8;
  const int32_t left = 8 - args.join_shift;
  const __m256i high_bits = _mm256_set1_epi32(join_high_bits(args.join_shift));
  const __m256i low_bits = _mm256_set1_epi32(kJoinLowBits);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* high = args.acc + 2 * i * args.acc_stride;
    const int32_t* low = high + args.acc_stride;
    int32_t* dst = args.dst + i * args.dst_stride;
    for (size_t c = 0; c < whole; c += 8) {
      const __m256i h = load(high + c), l = round_shift(load(low + c), args.join_shift);
      const __m256i b = args.bias != nullptr ? load(args.bias + c) : _mm256_setzero_si256();
      const __m256i others = _mm256_or_si256(_mm256_abs_epi32(l), _mm256_abs_epi32(b));
      const __m256i beyond = _mm256_or_si256(_mm256_and_si256(_mm256_abs_epi32(h), high_bits),
                                             _mm256_and_si256(others, low_bits));
      if (_mm256_testz_si256(beyond, beyond)) {
        const __m256i sum = _mm256_add_epi32(_mm256_slli_epi32(h, left), l);
        store(dst + c, _mm256_add_epi32(sum, b));
        continue;
      }
      const __m256i first = join(lower(h), lower(l), lower(b), left);
      const __m256i second = join(upper(h), upper(l), upper(b), left);
      const __m256 pairs =
          _mm256_shuffle_ps(_mm256_castsi256_ps(first), _mm256_castsi256_ps(second), 0x88);
      store(dst + c, _mm256_permute4x64_epi64(_mm256_castps_si256(pairs), 0xd8));
    }
    for (size_t c = whole; c < args.n; ++c) {
      const int64_t sum = shift_round(int64_t{high[c]} * 256 + low[c], args.join_shift);
      dst[c] = sat32(sum + (args.bias != nullptr ? args.bias[c] : 0));
    }
  }
}

}  // namespace embert
