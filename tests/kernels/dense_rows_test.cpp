// SPDX-License-Identifier: Apache-2.0
// Dense layers on 16-bit rows: planes and their sums against plain formulas, alone and around the
// products that they are for.
#include "kernels/contracts/dense_rows.hpp"

#include "kernels/arithmetic/pack.hpp"
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using SplitRowsTest = SeededTest;
using JoinRowsTest = SeededTest;
using DenseRowsTest = SeededTest;

// The planes of v: v = 256 high + low, but for low = -128.
struct Planes {
  int32_t high, low;
};
Planes plain_planes(int32_t v) {
  const int32_t inside = clamp<int32_t>(v, -32512, 32512);
  const int32_t high = (inside + 32768 + 128) / 256 - 128;
  return {high, std::max<int32_t>(inside - 256 * high, -127)};
}

TEST_F(SplitRowsTest, EveryValue) {
  Guarded<int16_t> src(65536);
  for (size_t i = 0; i < 65536; ++i) src[i] = static_cast<int16_t>(i - 32768);
  for (const auto& variant : variants_of<ConvertS8x2S16Fn>()) {
    for (const uint8_t flip : {uint8_t{0}, uint8_t{0x80}}) {
      Guarded<uint8_t> dst(2 * 65536);
      variant.function({1, 65536, src.data(), 65536, dst.data(), 65536, flip});
      for (size_t i = 0; i < 65536; ++i) {
        const Planes planes = plain_planes(src[i]);
        ASSERT_EQ(static_cast<int8_t>(dst[i] ^ flip), planes.high) << src[i];
        ASSERT_EQ(static_cast<int8_t>(dst[65536 + i] ^ flip), planes.low) << src[i];
      }
    }
  }
}

TEST_F(SplitRowsTest, EveryShape) {
  const auto variants = variants_of<ConvertS8x2S16Fn>();
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
        variant.function({m, k, src.data(), stride, actual.data(), dst_stride, flip});
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " m " << m << " k " << k;
      }
    }
  }
}

// With and without bias, apart and in place.
TEST_F(JoinRowsTest, EveryShape) {
  const auto variants = variants_of<ConvertS32S32x2Fn>();
  Draws draws(72);
  for (int32_t shift = 0; shift <= 38; ++shift) {
    for (const size_t n : tail_sizes()) {
      const size_t m = 1 + draws.below(5), stride = n + draws.below(5), dst_stride = 2 * stride;
      const bool with_bias = draws.below(4) != 0;
      Guarded<int32_t> acc((2 * m - 1) * stride + n), bias(n), expected((m - 1) * dst_stride + n);
      fill_accumulators(draws, acc.data(), acc.size());
      fill_accumulators(draws, bias.data(), n);
      for (size_t i = 0; i < m; ++i) {
        for (size_t c = 0; c < n; ++c) {
          const int64_t both =
              int64_t{acc[2 * i * stride + c]} * 256 + acc[(2 * i + 1) * stride + c];
          const int64_t sum = plain_shift_round(both, shift) + (with_bias ? bias[c] : 0);
          expected[i * dst_stride + c] =
              static_cast<int32_t>(clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
        }
      }
      ConvertS32S32x2Args args = {
          m, n, acc.data(), stride, shift, with_bias ? bias.data() : nullptr, nullptr, dst_stride};
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

// Planes through the GEMM and through the row-major product give the layer that they stand for.
TEST_F(DenseRowsTest, ProductsOfPlanesAreTheLayer) {
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
    pack_n16k4(weights.data(), n, k, packed.data());
    column_sums(weights.data(), n, k, sums.data());
    convert_s8x2_s16_scalar({m, k, src.data(), k, flipped.data(), inputs, kSignedLhsFlip});
    convert_s8x2_s16_scalar({m, k, src.data(), k, plain.data(), inputs, 0});
    gemm_s32_n16k4_scalar({2 * m, columns, inputs, flipped.data(), inputs, LhsType::kSigned,
                           packed.data(), nullptr, sums.data(), acc.data(), columns});
    dot_rows_scalar({2 * m, n, k, reinterpret_cast<const int8_t*>(plain.data()), inputs,
                     weights.data(), k, dots.data(), n});
    const int32_t shift = static_cast<int32_t>(draws.below(9));
    convert_s32_s32x2_scalar({m, n, acc.data(), columns, shift, bias.data(), by_gemm.data(), n});
    convert_s32_s32x2_scalar({m, n, dots.data(), n, shift, bias.data(), by_dots.data(), n});
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

}  // namespace
}  // namespace embert
