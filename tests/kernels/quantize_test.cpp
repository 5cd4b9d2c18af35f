// SPDX-License-Identifier: Apache-2.0
// Dynamic quantisation against the scalar kernel, in place and not.
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using QuantizeRowsTest = SeededTest;

template <typename Args>
void check_quantize(const std::vector<KernelVariant<void (*)(const Args&)>>& variants,
                    int32_t lowest, uint64_t salt) {
  using Source = std::remove_const_t<std::remove_pointer_t<decltype(Args::src)>>;
  Draws draws(salt);
  for (int repeat = 0; repeat < 48; ++repeat) {
    for (size_t k : tail_sizes()) {
      const size_t m = 1 + draws.below(9), stride = pad_inputs(k) + draws.below(5);
      Guarded<Source> src((m - 1) * stride + pad_inputs(k));
      Guarded<uint8_t> expected((m - 1) * 2 * stride + pad_inputs(k));
      Guarded<int32_t> expected_max(m);
      for (size_t i = 0; i < m; ++i) {
        const int32_t top = 1 + static_cast<int32_t>(32766 >> draws.below(15));
        fill_row(draws, reinterpret_cast<int16_t*>(&src[i * stride]), k, lowest < 0 ? -top : 0,
                 top);
      }
      Args args = {.m = m,
                   .k = k,
                   .src = src.data(),
                   .src_stride = stride,
                   .dst = expected.data(),
                   .dst_stride = 2 * stride,
                   .row_max = expected_max.data()};
      variants[0].function(args);
      for (const auto& variant : variants) {
        Guarded<uint8_t> actual(expected.size());
        Guarded<int32_t> actual_max(m);
        args.src = src.data(), args.dst = actual.data(), args.row_max = actual_max.data();
        variant.function(args);
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " m " << m << " k " << k;
        ASSERT_TRUE(actual_max.same_as(expected_max)) << variant.name << " m " << m << " k " << k;

        Guarded<Source> both(src.size());
        both.copy_from(src);
        args.src = both.data(), args.dst = reinterpret_cast<uint8_t*>(both.data());
        variant.function(args);
        for (size_t i = 0; i < m; ++i) {
          ASSERT_EQ(memcmp(args.dst + 2 * i * stride, &expected[2 * i * stride], pad_inputs(k)), 0)
              << variant.name << " in place, m " << m << " k " << k;
        }
      }
    }
  }
}

TEST_F(QuantizeRowsTest, SignedEqualsScalar) {
  check_quantize(variants_of(&Kernels::quantize_s8_s16), -32767, 13);
}
TEST_F(QuantizeRowsTest, UnsignedEqualsScalar) {
  check_quantize(variants_of(&Kernels::quantize_u8_u16), 0, 14);
}

// The ends of a row and its padding, as the GEMM reads them.
TEST_F(QuantizeRowsTest, TheGemmReadsTheValues) {
  const size_t k = 33, padded = pad_inputs(k);
  int16_t values[36] = {};
  uint16_t magnitudes[36] = {};
  values[0] = 1000, values[32] = -1000, magnitudes[1] = magnitudes[32] = 1000;
  for (const auto& variant : variants_of(&Kernels::quantize_s8_s16)) {
    uint8_t dst[36];
    int32_t row_max = 0;
    variant.function({.m = 1,
                      .k = k,
                      .src = values,
                      .src_stride = padded,
                      .dst = dst,
                      .dst_stride = padded,
                      .row_max = &row_max});
    for (size_t c = 0; c < padded; ++c) {
      ASSERT_EQ(lhs_value(dst[c], LhsType::kSigned), c == 0 ? 127 : c == 32 ? -127 : 0) << c;
    }
  }
  for (const auto& variant : variants_of(&Kernels::quantize_u8_u16)) {
    uint8_t dst[36];
    int32_t row_max = 0;
    variant.function({.m = 1,
                      .k = k,
                      .src = magnitudes,
                      .src_stride = padded,
                      .dst = dst,
                      .dst_stride = padded,
                      .row_max = &row_max});
    for (size_t c = 0; c < padded; ++c) {
      ASSERT_EQ(lhs_value(dst[c], LhsType::kUnsigned), c == 1 || c == 32 ? 255 : 0) << c;
    }
  }
}

// The form in 16-bit lanes that SIMD kernels use, for every row maximum and every value.
TEST_F(QuantizeRowsTest, SixteenBitFormIsExact) {
  for (const int32_t top : {127, 255}) {
    for (int32_t row_max = 1; row_max <= 32767; row_max += row_max < 300 ? 1 : 7) {
      const RowScale s = row_scale(row_max, top);
      ASSERT_LE(s.r, top == 127 ? 32512 : 65280);
      const int32_t lowest = top == 127 ? -row_max : 0;
      const int32_t step = row_max < 300 ? 1 : 3;
      for (int32_t x = lowest; x <= row_max; x += step) {
        const int64_t high = (x * (1 << s.z)) * int64_t{s.r} >> 16;
        ASSERT_EQ((high + 32) >> 6, quantize_row_value(x, s)) << row_max << " " << x;
      }
      ASSERT_EQ(quantize_row_value(row_max, s), top);
    }
  }
}

}  // namespace
}  // namespace embert
