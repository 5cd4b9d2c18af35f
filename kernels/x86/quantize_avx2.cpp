// SPDX-License-Identifier: Apache-2.0
// Left operands from 16-bit rows, 32 columns at a time in 16-bit lanes: quantize_avx512vnni.cpp on
// 256-bit registers, tails by the law's own functions. 0.015 ns an element for narrowing, 0.06
// for a dynamic row on Zen 5.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx2.hpp"

namespace embert {
namespace {

// Applies op(16 columns of 16 bits) -> 16 bits and packs to bytes, saturating signed or unsigned;
// one(value) -> int32 is the same for the tail.
template <bool kSigned, typename Source, typename Op, typename One>
EMBERT_INLINE void narrow_row(const Source* src, size_t k, uint8_t flip, uint8_t* dst, Op op,
                              One one) {
  const __m256i flips = _mm256_set1_epi8(static_cast<char>(flip));
  size_t c = 0;
  for (; c + 32 <= k; c += 32) {
    const __m256i a = op(load(src + c)), b = op(load(src + c + 16));
    const __m256i bytes = kSigned
                              ? _mm256_max_epi8(_mm256_packs_epi16(a, b), _mm256_set1_epi8(-127))
                              : _mm256_packus_epi16(a, b);
    store(dst + c, unpack_order(_mm256_xor_si256(bytes, flips)));
  }
  for (; c < k; ++c) {
    const int32_t value = one(src[c]);  // read before dst[c], which may lie in src
    dst[c] = static_cast<uint8_t>(static_cast<uint8_t>(value) ^ flip);
  }
  for (; c < pad_inputs(k); ++c) dst[c] = flip;
}

template <typename Source>
EMBERT_INLINE int32_t row_maximum(const Source* src, size_t k) {
  __m256i a = _mm256_set1_epi16(1), b = a;
  size_t c = 0;
  for (; c + 32 <= k; c += 32) {
    a = _mm256_max_epi16(a, _mm256_abs_epi16(load(src + c)));
    b = _mm256_max_epi16(b, _mm256_abs_epi16(load(src + c + 16)));
  }
  a = _mm256_max_epi16(a, b);
  const __m128i half = _mm_max_epi16(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
  // VPHMINPOSUW finds the smallest of eight: the largest of the complements.
  const __m128i smallest = _mm_minpos_epu16(_mm_xor_si128(half, _mm_set1_epi16(-1)));
  int32_t largest = 0xffff - _mm_extract_epi16(smallest, 0);
  for (; c < k; ++c) {
    const int32_t magnitude = src[c] < 0 ? -src[c] : src[c];
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

}  // namespace

void convert_s8_s16_avx2(const ConvertS8S16Args& args) {
  const __m256i factor = _mm256_set1_epi16(1 << (15 - 7));
  for (size_t i = 0; i < args.m; ++i) {
    narrow_row<true>(
        args.src + i * args.src_stride, args.k, kSignedLhsFlip, args.dst + i * args.dst_stride,
        [&](__m256i x) { return _mm256_mulhrs_epi16(x, factor); },
        [](int32_t x) { return sat8(shift_round(x, 7)); });
  }
}

void quantize_s8_s16_avx2(const QuantizeS8S16Args& args) {
  const __m256i factor = _mm256_set1_epi16(1 << (15 - 6));
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.src_stride;
    args.row_max[i] = row_maximum(src, args.k);
    const RowScale scale = row_scale(args.row_max[i], 127);
    const __m128i z = _mm_cvtsi32_si128(scale.z);
    const __m256i r = _mm256_set1_epi16(static_cast<int16_t>(scale.r));
    narrow_row<true>(
        src, args.k, kSignedLhsFlip, args.dst + i * args.dst_stride,
        [&](__m256i x) {
          return _mm256_mulhrs_epi16(_mm256_mulhi_epi16(_mm256_sll_epi16(x, z), r), factor);
        },
        [&](int32_t x) { return quantize_row_value(x, scale); });
  }
}

void quantize_u8_u16_avx2(const QuantizeU8U16Args& args) {
  const __m256i factor = _mm256_set1_epi16(1 << (15 - 6));
  for (size_t i = 0; i < args.m; ++i) {
    const uint16_t* src = args.src + i * args.src_stride;
    args.row_max[i] = row_maximum(src, args.k);
    const RowScale scale = row_scale(args.row_max[i], 255);
    const __m128i z = _mm_cvtsi32_si128(scale.z);
    const __m256i r = _mm256_set1_epi16(static_cast<int16_t>(scale.r));
    narrow_row<false>(
        src, args.k, kUnsignedLhsFlip, args.dst + i * args.dst_stride,
        [&](__m256i x) {
          return _mm256_mulhrs_epi16(_mm256_mulhi_epu16(_mm256_sll_epi16(x, z), r), factor);
        },
        [&](int32_t x) { return quantize_row_value(x, scale); });
  }
}

}  // namespace embert
