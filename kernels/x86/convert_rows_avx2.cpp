// SPDX-License-Identifier: Apache-2.0
// CONVERT
#include "kernels/variants.hpp"
#include "kernels/x86/narrow_avx2.hpp"

namespace embert {

void convert_s8_s16_avx2(const ConvertS8S16Args& args) {
  const __m256i factor = _mm256_set1_epi16(1 << (15 - 7));
  for (size_t i = 0; i < args.m; ++i) {
    narrow_row<true>(
        args.src + i * args.src_stride, args.k, kSignedLhsFlip, args.dst + i * args.dst_stride,
        [&](__m256i x) { return _mm256_mulhrs_epi16(x, factor); },
        [](int32_t x) { return sat8(shift_round(x, 7)); });
  }
}

}  // namespace embert
