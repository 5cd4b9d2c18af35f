// SPDX-License-Identifier: Apache-2.0
// A row of 16-bit values to the bytes of a left operand, 32 columns at a time; tails by the
// reference arithmetic.
#pragma once

#include "kernels/arithmetic/layout.hpp"
#include "kernels/x86/lanes_avx2.hpp"

namespace embert {
namespace {

/// Applies op to 16 columns of 16 bits, packs the 16-bit results to signed or unsigned bytes with
/// saturation and flips them. one(value) computes the same for a column of the tail.
template <bool kSigned, typename Source, typename Op, typename One>
EMBERT_INLINE void row_to_bytes(const Source* src, size_t k, uint8_t* dst, Op op, One one) {
  constexpr uint8_t flip = kSigned ? kSignedLhsFlip : kUnsignedLhsFlip;
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

}  // namespace
}  // namespace embert
