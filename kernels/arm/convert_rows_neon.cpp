// SPDX-License-Identifier: Apache-2.0
// 16 bits to 8, one saturating rounding shift. About 20 instructions for 64 elements.
#include "kernels/arm/row_to_bytes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {

void convert_s8_s16_neon(const ConvertS8S16Args& args) {
  const int8x16_t lowest = vdupq_n_s8(-127);
  const bool together =
      args.src_stride == args.k && args.dst_stride == args.k;  // so the rows are one long row
  const size_t m = together ? 1 : args.m, k = together ? args.m * args.k : args.k;
  for (size_t i = 0; i < m; ++i) {
    row_to_bytes(
        args.src + i * args.src_stride, k, args.dst + i * args.dst_stride,
        [&](int16x8_t a, int16x8_t b) {
          const int8x16_t bytes = vqrshrn_high_n_s16(vqrshrn_n_s16(a, 7), b, 7);
          return vreinterpretq_u8_s8(vmaxq_s8(bytes, lowest));
        },
        [](int32_t x) { return sat8(shift_round(x, 7)); });
  }
}

}  // namespace embert
