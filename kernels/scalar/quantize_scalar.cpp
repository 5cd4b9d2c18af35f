// SPDX-License-Identifier: Apache-2.0
#include "kernels/variants.hpp"

namespace embert {
namespace {

// Signed values to +-127, unsigned ones to 0..255.
template <typename T>
void quantize_row(const T* src, size_t k, uint8_t* dst, int32_t* row_max) {
  constexpr bool is_signed = T(-1) < T(0);
  const int32_t top = is_signed ? 127 : 255;
  const uint8_t flip = is_signed ? kSignedLhsFlip : kUnsignedLhsFlip;
  int32_t largest = 1;
  for (size_t c = 0; c < k; ++c) {
    const int32_t magnitude = src[c] < 0 ? -src[c] : src[c];
    if (magnitude > largest) largest = magnitude;
  }
  *row_max = largest;
  const RowScale scale = row_scale(largest, top);
  for (size_t c = 0; c < k; ++c) {
    const int32_t q =
        quantize_row_value(src[c], scale);  // read before dst[c], which may lie in src
    dst[c] = static_cast<uint8_t>(q) ^ flip;
  }
  for (size_t c = k; c < pad_inputs(k); ++c) dst[c] = flip;
}

}  // namespace

void quantize_s8_s16_scalar(const QuantizeS8S16Args& args) {
  for (size_t i = 0; i < args.m; ++i) {
    quantize_row(args.src + i * args.src_stride, args.k, args.dst + i * args.dst_stride,
                 args.row_max + i);
  }
}

void quantize_u8_u16_scalar(const QuantizeU8U16Args& args) {
  for (size_t i = 0; i < args.m; ++i) {
    quantize_row(args.src + i * args.src_stride, args.k, args.dst + i * args.dst_stride,
                 args.row_max + i);
  }
}

}  // namespace embert
