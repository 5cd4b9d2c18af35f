// SPDX-License-Identifier: Apache-2.0
// A row of 16-bit values to the bytes of a left operand, 64 columns at a time.
#pragma once

#include "kernels/arithmetic/layout.hpp"
#include "kernels/x86/lanes_avx512.hpp"

namespace embert {
namespace {

/// Applies op to 32 columns of 16 bits, packs the 16-bit results to signed or unsigned bytes with
/// saturation and flips them. The tail is read whole before it is written, because dst may be src.
template <bool kSigned, typename Source, typename Op>
EMBERT_INLINE void row_to_bytes(const Source* src, size_t k, uint8_t* dst, Op op) {
  constexpr uint8_t flip = kSigned ? kSignedLhsFlip : kUnsignedLhsFlip;
  const __m512i flips = _mm512_set1_epi8(static_cast<char>(flip));
  const auto pack = [&](__m512i a, __m512i b) {
    a = op(a);
    b = op(b);
    const __m512i bytes = kSigned
                              ? _mm512_max_epi8(_mm512_packs_epi16(a, b), _mm512_set1_epi8(-127))
                              : _mm512_packus_epi16(a, b);
    return unpack_order(_mm512_xor_si512(bytes, flips));
  };
  size_t c = 0;
  for (; c + 64 <= k; c += 64) {
    _mm512_storeu_si512(dst + c,
                        pack(_mm512_loadu_si512(src + c), _mm512_loadu_si512(src + c + 32)));
  }
  if (c < k) {
    const size_t left = k - c;
    const __mmask32 upper = left > 32 ? mask32(left - 32) : 0;
    const __m512i a = _mm512_maskz_loadu_epi16(mask32(left), src + c);
    const __m512i b = _mm512_maskz_loadu_epi16(upper, src + c + 32);
    _mm512_mask_storeu_epi32(dst + c, mask16(pad_inputs(left) / 4), pack(a, b));
  }
}

}  // namespace
}  // namespace embert
