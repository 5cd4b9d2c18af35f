// SPDX-License-Identifier: Apache-2.0
// Conversions between row formats. 16 to 8 bits against the scalar kernel; planes, the sums of
// their products and rescaled channels against plain formulas, the planes also around the products
// that they are for.
#include "kernels/arithmetic/pack.hpp"
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using ConvertS8S16Test = SeededTest;
using ConvertS8x2S16Test = SeededTest;
using ConvertS32S32x2Test = SeededTest;
using PlanesTest = SeededTest;
using RescaleChannelsTest = SeededTest;

TEST_F(ConvertS8S16Test, EqualsScalar) {
  const auto variants = variants_of(&Kernels::convert_s8_s16);
  Draws draws(12);
  for (int repeat = 0; repeat < 48; ++repeat) {
    for (size_t k : tail_sizes()) {
      const size_t m = 1 + draws.below(9), stride = k + draws.below(5);
      const size_t dst_stride = pad_inputs(k) + draws.below(5);
      Guarded<int16_t> src((m - 1) * stride + k);
      Guarded<uint8_t> expected((m - 1) * dst_stride + pad_inputs(k));
      for (size_t i = 0; i < m; ++i) fill_row(draws, &src[i * stride], k, -32768, 32767);
      ConvertS8S16Args args = {.m = m,
                               .k = k,
                               .src = src.data(),
                               .src_stride = stride,
                               .dst = expected.data(),
                               .dst_stride = dst_stride};
      variants[0].function(args);
      for (const auto& variant : variants) {
        Guarded<uint8_t> actual(expected.size());
        args.dst = actual.data();
        variant.function(args);
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " m " << m << " k " << k;
      }
    }
  }
}

TEST_F(ConvertS8S16Test, EveryValue) {
  Guarded<int16_t> src(65536);
  for (size_t i = 0; i < 65536; ++i) src[i] = static_cast<int16_t>(i - 32768);
  Guarded<uint8_t> expected(65536), actual(65536);
  const auto variants = variants_of(&Kernels::convert_s8_s16);
  ConvertS8S16Args args = {.m = 1,
                           .k = 65536,
                           .src = src.data(),
                           .src_stride = 65536,
                           .dst = expected.data(),
                           .dst_stride = 65536};
  variants[0].function(args);
  for (size_t i = 0; i < 65536; ++i) {
    const int64_t plain = clamp<int64_t>(plain_shift_round(src[i], 7), -127, 127);
    ASSERT_EQ(lhs_value(expected[i], LhsType::kSigned), plain) << src[i];
  }
  args.dst = actual.data();
  for (const auto& variant : variants) {
    variant.function(args);
    EXPECT_TRUE(actual.same_as(expected)) << variant.name;
  }
}

// The planes of v: v = 256 high + low, except where low would be -128.
struct Planes {
  int32_t high, low;
};
Planes plain_planes(int32_t v) {
  const int32_t inside = clamp<int32_t>(v, -32512, 32512);
  const int32_t high = (inside + 32768 + 128) / 256 - 128;
  return {high, std::max<int32_t>(inside - 256 * high, -127)};
}

TEST_F(ConvertS8x2S16Test, EveryValue) {
  Guarded<int16_t> src(65536);
  for (size_t i = 0; i < 65536; ++i) src[i] = static_cast<int16_t>(i - 32768);
  for (const auto& variant : variants_of(&Kernels::convert_s8x2_s16)) {
    for (const uint8_t flip : {uint8_t{0}, uint8_t{0x80}}) {
      Guarded<uint8_t> dst(2 * 65536);
      variant.function({.m = 1,
                        .k = 65536,
                        .src = src.data(),
                        .src_stride = 65536,
                        .dst = dst.data(),
                        .dst_stride = 65536,
                        .flip = flip});
      for (size_t i = 0; i < 65536; ++i) {
        const Planes planes = plain_planes(src[i]);
        ASSERT_EQ(static_cast<int8_t>(dst[i] ^ flip), planes.high) << src[i];
        ASSERT_EQ(static_cast<int8_t>(dst[65536 + i] ^ flip), planes.low) << src[i];
      }
    }
  }
}

TEST_F(ConvertS8x2S16Test, EveryShape) {
  const auto variants = variants_of(&Kernels::convert_s8x2_s16);
  Draws draws(71);
  for (int repeat = 0; repeat < 8; ++repeat) {
    for (const size_t k : tail_sizes()) {
      const size_t m = 1 + draws.below(9), stride = k + draws.below(5), padded = pad_inputs(k);
      const size_t dst_stride = padded + draws.below(9);
      const uint8_t flip = draws.below(2) == 0 ? uint8_t{0} : kSignedLhsFlip;
      Guarded<int16_t> src((m - 1) * stride + k);
      Guarded<uint8_t> expected((2 * m - 1) * dst_stride + padded);
      for (int16_t& x : src) x = draws.in16(-32768, 32767);
      for (size_t i = 0; i < m; ++i) {
        for (size_t c = 0; c < padded; ++c) {
          const Planes planes = plain_planes(c < k ? src[i * stride + c] : 0);
          expected[2 * i * dst_stride + c] = static_cast<uint8_t>(planes.high) ^ flip;
          expected[(2 * i + 1) * dst_stride + c] = static_cast<uint8_t>(planes.low) ^ flip;
        }
      }
      for (const auto& variant : variants) {
        Guarded<uint8_t> actual(expected.size());
        variant.function({.m = m,
                          .k = k,
                          .src = src.data(),
                          .src_stride = stride,
                          .dst = actual.data(),
                          .dst_stride = dst_stride,
                          .flip = flip});
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " m " << m << " k " << k;
      }
    }
  }
}

// Numbers of one sign, most of them 2^bits - 1, in some rows a few of up to twice as much. At the
// numbers that variants take as the largest for 32-bit lanes the joined sums are around the ends of
// 32 bits.
void fill_near(Draws& draws, int32_t bits, int32_t* values, size_t count) {
  const int32_t sign = draws.below(2) != 0 ? 1 : -1, most = (int32_t{1} << bits) - 1;
  const bool beyond = draws.below(2) != 0;
  for (size_t i = 0; i < count; ++i) {
    values[i] = sign * (draws.below(4) == 0 ? draws.in32(0, most) : most);
    if (beyond && draws.below(16) == 0) values[i] += sign * draws.in32(1, int64_t{most} + 1);
  }
}

// With and without bias, in place and not.
TEST_F(ConvertS32S32x2Test, EveryShape) {
  const auto variants = variants_of(&Kernels::convert_s32_s32x2);
  Draws draws(72);
  for (int32_t shift = 0; shift <= 8; ++shift) {
    for (const size_t n : tail_sizes()) {
      const size_t m = 1 + draws.below(5), stride = n + draws.below(5), dst_stride = 2 * stride;
      const bool with_bias = draws.below(4) != 0, near_bounds = draws.below(2) != 0;
      Guarded<int32_t> acc((2 * m - 1) * stride + n), bias(n), expected((m - 1) * dst_stride + n);
      if (near_bounds) {
        for (size_t row = 0; row < 2 * m; ++row) {
          fill_near(draws, row % 2 == 0 ? 22 + shift : 29, &acc[row * stride], n);
        }
        fill_near(draws, 29, bias.data(), n);
      } else {
        fill_accumulators(draws, acc.data(), acc.size());
        fill_accumulators(draws, bias.data(), n);
      }
      for (size_t i = 0; i < m; ++i) {
        for (size_t c = 0; c < n; ++c) {
          const int64_t both =
              int64_t{acc[2 * i * stride + c]} * 256 + acc[(2 * i + 1) * stride + c];
          const int64_t sum = plain_shift_round(both, shift) + (with_bias ? bias[c] : 0);
          expected[i * dst_stride + c] =
              static_cast<int32_t>(clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
        }
      }
      ConvertS32S32x2Args args = {.m = m,
                                  .n = n,
                                  .acc = acc.data(),
                                  .acc_stride = stride,
                                  .join_shift = shift,
                                  .bias = with_bias ? bias.data() : nullptr,
                                  .dst = nullptr,
                                  .dst_stride = dst_stride};
      for (const auto& variant : variants) {
        Guarded<int32_t> actual(expected.size()), both(acc.size());
        args.acc = acc.data(), args.dst = actual.data();
        variant.function(args);
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " n " << n << " shift " << shift;
        both.copy_from(acc);
        args.acc = args.dst = both.data();
        variant.function(args);
        for (size_t i = 0; i < m; ++i) {
          ASSERT_EQ(memcmp(&both[i * dst_stride], &expected[i * dst_stride], n * sizeof(int32_t)),
                    0)
              << variant.name << " in place, n " << n << " shift " << shift;
        }
      }
    }
  }
}

// The GEMM of both planes and their products with a row-major table give the dense layer on 16-bit
// rows.
TEST_F(PlanesTest, ProductsOfPlanesAreTheLayer) {
  Draws draws(73);
  for (int repeat = 0; repeat < 30; ++repeat) {
    const size_t m = 1 + draws.below(4), n = 1 + draws.below(40), k = 1 + draws.below(100);
    const size_t columns = pad_columns(n), inputs = pad_inputs(k);
    Guarded<int16_t> src(m * k);
    Guarded<int8_t> weights(n * k), packed(columns * inputs, 64);
    Guarded<int32_t> bias(n), sums(columns), acc(2 * m * columns, 64), dots(2 * m * n);
    Guarded<int32_t> by_gemm(m * n), by_dots(m * n);
    Guarded<uint8_t> flipped(2 * m * inputs), plain(2 * m * inputs);
    for (int16_t& x : src) x = draws.in16(-32768, 32767);
    for (int8_t& w : weights) w = static_cast<int8_t>(draws.in(-127, 127));
    for (int32_t& b : bias) b = draws.in32(-(1 << 29), 1 << 29);
    pack_rhs(RhsOrder::kN16K4, weights.data(), n, k, packed.data());
    column_sums(weights.data(), n, k, sums.data());
    ConvertS8x2S16Args split = {.m = m,
                                .k = k,
                                .src = src.data(),
                                .src_stride = k,
                                .dst = flipped.data(),
                                .dst_stride = inputs,
                                .flip = kSignedLhsFlip};
    convert_s8x2_s16_scalar(split);
    split.dst = plain.data(), split.flip = 0;
    convert_s8x2_s16_scalar(split);
    gemm_s32_n16k4_scalar({.m = 2 * m,
                           .n = columns,
                           .k = inputs,
                           .lhs = flipped.data(),
                           .lhs_stride = inputs,
                           .lhs_type = LhsType::kSigned,
                           .rhs = packed.data(),
                           .bias = nullptr,
                           .sums = sums.data(),
                           .dst = acc.data(),
                           .dst_stride = columns});
    dot_rows_scalar({.m = 2 * m,
                     .n = n,
                     .k = k,
                     .lhs = reinterpret_cast<const int8_t*>(plain.data()),
                     .lhs_stride = inputs,
                     .rhs = weights.data(),
                     .rhs_stride = k,
                     .dst = dots.data(),
                     .dst_stride = n});
    const int32_t shift = static_cast<int32_t>(draws.below(9));
    ConvertS32S32x2Args join = {.m = m,
                                .n = n,
                                .acc = acc.data(),
                                .acc_stride = columns,
                                .join_shift = shift,
                                .bias = bias.data(),
                                .dst = by_gemm.data(),
                                .dst_stride = n};
    convert_s32_s32x2_scalar(join);
    join.acc = dots.data(), join.acc_stride = n, join.dst = by_dots.data();
    convert_s32_s32x2_scalar(join);
    ASSERT_TRUE(by_dots.same_as(by_gemm));
    for (size_t i = 0; i < m; ++i) {
      for (size_t j = 0; j < n; ++j) {
        int64_t sum = 0;
        for (size_t c = 0; c < k; ++c) {
          const Planes planes = plain_planes(src[i * k + c]);
          sum += int64_t{256 * planes.high + planes.low} * weights[j * k + c];
        }
        ASSERT_EQ(int64_t{by_gemm[i * n + j]}, plain_shift_round(sum, shift) + bias[j]);
      }
    }
  }
}

TEST_F(RescaleChannelsTest, AreThePlainOnes) {
  const auto variants = variants_of(&Kernels::rescale_channels);
  Draws draws(17);
  for (int repeat = 0; repeat < 16; ++repeat) {
    for (size_t n : tail_sizes()) {
      const size_t m = 1 + draws.below(9), stride = n + draws.below(5);
      const size_t dst_stride = n + draws.below(5);
      Guarded<int16_t> src((m - 1) * stride + n), expected((m - 1) * dst_stride + n);
      Guarded<int32_t> multiplier(n), offset(n);
      for (size_t i = 0; i < m; ++i) fill_row(draws, &src[i * stride], n, -32768, 32767);
      for (size_t c = 0; c < n; ++c) {
        multiplier[c] = draws.in32(INT32_MIN, INT32_MAX);
        offset[c] = draws.in32(INT32_MIN, INT32_MAX);
        for (size_t i = 0; i < m; ++i) {
          expected[i * dst_stride + c] = plain_sat16(
              plain_shift_round(int64_t{src[i * stride + c]} * multiplier[c] + offset[c], 16));
        }
      }
      for (const auto& variant : variants) {
        Guarded<int16_t> actual(expected.size()), both(src.size());
        variant.function({.m = m,
                          .n = n,
                          .src = src.data(),
                          .src_stride = stride,
                          .multiplier = multiplier.data(),
                          .offset = offset.data(),
                          .dst = actual.data(),
                          .dst_stride = dst_stride});
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " m " << m << " n " << n;
        both.copy_from(src);
        variant.function({.m = m,
                          .n = n,
                          .src = both.data(),
                          .src_stride = stride,
                          .multiplier = multiplier.data(),
                          .offset = offset.data(),
                          .dst = both.data(),
                          .dst_stride = stride});
        for (size_t i = 0; i < m; ++i) {
          ASSERT_EQ(memcmp(&both[i * stride], &expected[i * dst_stride], n * sizeof(int16_t)), 0)
              << variant.name << " in place, m " << m << " n " << n;
        }
      }
    }
  }
}

}  // namespace
}  // namespace embert
