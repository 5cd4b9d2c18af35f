// SPDX-License-Identifier: Apache-2.0
// A row of 16-bit values to the bytes of a left operand, 16 columns at a time; tails by the
// reference arithmetic.
#pragma once

#include "kernels/arithmetic/layout.hpp"
#include "kernels/wasm/lanes_simd128.hpp"

namespace embert {
namespace {

/// pack makes 16 bytes of 16 columns, flip included; one(value) computes the same for a column of
/// the tail, without the flip. Signed sources have signed bytes, unsigned ones unsigned bytes.
template <typename Source, typename Pack, typename One>
EMBERT_INLINE void row_to_bytes(const Source* src, size_t k, uint8_t* dst, Pack pack, One one) {
  constexpr uint8_t flip = Source(-1) < Source(0) ? kSignedLhsFlip : kUnsignedLhsFlip;
  size_t c = 0;
  for (; c + 16 <= k; c += 16) store(dst + c, pack(load(src + c), load(src + c + 8)));
  for (; c < k; ++c) {
    const int32_t value = one(src[c]);  // read before dst[c], which may lie in src
    dst[c] = static_cast<uint8_t>(static_cast<uint8_t>(value) ^ flip);
  }
  for (; c < pad_inputs(k); ++c) dst[c] = flip;
}

}  // namespace
}  // namespace embert
