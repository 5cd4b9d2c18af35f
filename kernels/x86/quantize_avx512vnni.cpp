// SPDX-License-Identifier: Apache-2.0
// Dynamic quantisation, 64 columns at a time in 16-bit lanes. RS(x 2^z r, 22) = RS(mulhi(x << z,
// r), 6), because the low 16 bits of the product can not reach the rounding bit; the rounding shift
// is VPMULHRSW. 9 instructions for 64 elements and 4 for the search of the maximum, 0.03 ns an
// element on Zen 5.
#include "kernels/variants.hpp"
#include "kernels/x86/row_to_bytes_avx512.hpp"

namespace embert {
namespace {

template <typename Source>
EMBERT_INLINE int32_t row_maximum(const Source* src, size_t k) {
  __m512i a = _mm512_set1_epi16(1), b = a;
  size_t c = 0;
  for (; c + 64 <= k; c += 64) {
    a = _mm512_max_epu16(a, _mm512_abs_epi16(_mm512_loadu_si512(src + c)));
    b = _mm512_max_epu16(b, _mm512_abs_epi16(_mm512_loadu_si512(src + c + 32)));
  }
  for (; c < k; c += 32) {
    a = _mm512_max_epu16(a, _mm512_abs_epi16(_mm512_maskz_loadu_epi16(mask32(k - c), src + c)));
  }
  a = _mm512_max_epu16(a, b);
  const __m256i half = _mm256_max_epu16(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64(a, 1));
  const __m128i quarter =
      _mm_max_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  // VPHMINPOSUW finds the smallest of eight, here of the complements.
  const __m128i smallest = _mm_minpos_epu16(_mm_xor_si128(quarter, _mm_set1_epi16(-1)));
  return 0xffff - _mm_extract_epi16(smallest, 0);
}

}  // namespace

void quantize_s8_s16_avx512vnni(const QuantizeS8S16Args& args) {
  const __m512i factor = _mm512_set1_epi16(1 << (15 - 6));
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.src_stride;
    args.row_max[i] = row_maximum(src, args.k);
    const RowScale scale = row_scale(args.row_max[i], 127);
    const __m512i z = _mm512_set1_epi16(static_cast<int16_t>(scale.z));
    const __m512i r = _mm512_set1_epi16(static_cast<int16_t>(scale.r));
    row_to_bytes<true>(src, args.k, args.dst + i * args.dst_stride, [&](__m512i x) {
      return _mm512_mulhrs_epi16(_mm512_mulhi_epi16(_mm512_sllv_epi16(x, z), r), factor);
    });
  }
}

void quantize_u8_u16_avx512vnni(const QuantizeU8U16Args& args) {
  const __m512i factor = _mm512_set1_epi16(1 << (15 - 6));
  for (size_t i = 0; i < args.m; ++i) {
    const uint16_t* src = args.src + i * args.src_stride;
    args.row_max[i] = row_maximum(src, args.k);
    const RowScale scale = row_scale(args.row_max[i], 255);
    const __m512i z = _mm512_set1_epi16(static_cast<int16_t>(scale.z));
    const __m512i r = _mm512_set1_epi16(static_cast<int16_t>(scale.r));
    row_to_bytes<false>(src, args.k, args.dst + i * args.dst_stride, [&](__m512i x) {
      return _mm512_mulhrs_epi16(_mm512_mulhi_epu16(_mm512_sllv_epi16(x, z), r), factor);
    });
  }
}

}  // namespace embert
