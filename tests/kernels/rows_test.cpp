// SPDX-License-Identifier: Apache-2.0
// Operations on 16-bit rows against the scalar law: LayerNorm, narrowing, dynamic quantisation and
// the embedding sum. Given embeddings and hidden states against plain formulas.
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using LayerNormTest = SeededTest;
using NarrowRowsTest = SeededTest;
using QuantizeRowsTest = SeededTest;
using EmbeddingTest = SeededTest;
using HiddenRowsTest = SeededTest;

// Rows of a shape each: random, constant, one-hot, alternating extremes, tiny.
void fill_row(Draws& draws, int16_t* row, size_t n, int32_t lowest, int32_t highest) {
  const size_t kind = draws.below(6);
  const int16_t one = draws.in16(lowest, highest);
  for (size_t c = 0; c < n; ++c) {
    row[c] = kind == 0   ? one
             : kind == 1 ? int16_t{0}
             : kind == 2 ? static_cast<int16_t>(c % 2 == 0 ? lowest : highest)
             : kind == 3 ? static_cast<int16_t>(draws.below(3))
                         : draws.in16(lowest, highest);
  }
  if (kind == 1) row[draws.below(n)] = one;
}

TEST_F(LayerNormTest, EqualsScalar) {
  const auto variants = variants_of<LayerNormFn>();
  Draws draws(11);
  std::vector<size_t> sizes = tail_sizes();
  sizes.push_back(768);
  sizes.push_back(4095);
  sizes.push_back(4096);
  for (int repeat = 0; repeat < 64; ++repeat) {
    for (size_t n : sizes) {
      const size_t m = n > 500 ? 1 + draws.below(3) : 1 + draws.below(40);
      const size_t stride = n + draws.below(5), count = (m - 1) * stride + n;
      Guarded<int16_t> src(count), expected(count);
      Guarded<int32_t> gain(n), bias(n);
      for (size_t i = 0; i < m; ++i) fill_row(draws, &src[i * stride], n, -32768, 32767);
      for (size_t c = 0; c < n; ++c) {
        gain[c] = draws.in32(-INT32_MAX, INT32_MAX);
        bias[c] = draws.in32(-(1 << 29) + 1, (1 << 29) - 1);
      }
      LayerNormArgs args = {m,           n,           src.data(), expected.data(), stride, 1,
                            gain.data(), bias.data(), 0};
      args.epsilon_n2 = draws.in(1, int64_t{1} << (draws.below(4) == 0 ? 54 : 20));
      args.shift = 8 + static_cast<int32_t>(draws.below(31));
      variants[0].function(args);
      for (const auto& variant : variants) {
        Guarded<int16_t> actual(count);
        args.src = src.data(), args.dst = actual.data();
        variant.function(args);
        ASSERT_TRUE(actual.same_as(expected))
            << variant.name << " m " << m << " n " << n << " shift " << args.shift;
        actual.copy_from(src);
        args.src = args.dst = actual.data();
        variant.function(args);
        for (size_t i = 0; i < m; ++i) {
          ASSERT_EQ(memcmp(&actual[i * stride], &expected[i * stride], 2 * n), 0)
              << variant.name << " in place, m " << m << " n " << n;
        }
      }
    }
  }
}

TEST_F(NarrowRowsTest, EqualsScalar) {
  const auto variants = variants_of<ConvertS8S16Fn>();
  Draws draws(12);
  for (int repeat = 0; repeat < 48; ++repeat) {
    for (size_t k : tail_sizes()) {
      const size_t m = 1 + draws.below(9), stride = k + draws.below(5);
      const size_t dst_stride = pad_inputs(k) + draws.below(5);
      Guarded<int16_t> src((m - 1) * stride + k);
      Guarded<uint8_t> expected((m - 1) * dst_stride + pad_inputs(k));
      for (size_t i = 0; i < m; ++i) fill_row(draws, &src[i * stride], k, -32768, 32767);
      ConvertS8S16Args args = {m, k, src.data(), stride, expected.data(), dst_stride};
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

TEST_F(NarrowRowsTest, EveryValue) {
  Guarded<int16_t> src(65536);
  for (size_t i = 0; i < 65536; ++i) src[i] = static_cast<int16_t>(i - 32768);
  Guarded<uint8_t> expected(65536), actual(65536);
  const auto variants = variants_of<ConvertS8S16Fn>();
  variants[0].function({1, 65536, src.data(), 65536, expected.data(), 65536});
  for (const auto& variant : variants) {
    variant.function({1, 65536, src.data(), 65536, actual.data(), 65536});
    EXPECT_TRUE(actual.same_as(expected)) << variant.name;
  }
}

template <typename Args, typename Fn>
void check_quantize(int32_t lowest, uint64_t salt) {
  using Source = std::remove_const_t<std::remove_pointer_t<decltype(Args::src)>>;
  const auto variants = variants_of<Fn>();
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
      Args args = {m, k, src.data(), stride, expected.data(), 2 * stride, expected_max.data()};
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
  check_quantize<QuantizeS8S16Args, QuantizeS8S16Fn>(-32767, 13);
}
TEST_F(QuantizeRowsTest, UnsignedEqualsScalar) {
  check_quantize<QuantizeU8U16Args, QuantizeU8U16Fn>(0, 14);
}

// The 16-bit form of the law, for every row maximum and every value that it allows.
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

TEST_F(EmbeddingTest, EqualsScalar) {
  const auto variants = variants_of<EmbeddingFn>();
  Draws draws(15);
  for (int repeat = 0; repeat < 60; ++repeat) {
    for (size_t n : tail_sizes()) {
      Guarded<int8_t> word(n);
      Guarded<int16_t> position(n), segment(n), expected(n);
      for (size_t c = 0; c < n; ++c) {
        word[c] = static_cast<int8_t>(draws.in(-128, 127));
        position[c] = draws.in16(-32768, 32767);
        segment[c] = draws.in16(-32768, 32767);
      }
      EmbeddingArgs args = {n,
                            word.data(),
                            draws.in32(0, 16909320),
                            position.data(),
                            repeat % 2 == 0 ? segment.data() : nullptr,
                            expected.data()};
      variants[0].function(args);
      for (const auto& variant : variants) {
        Guarded<int16_t> actual(n);
        args.dst = actual.data();
        variant.function(args);
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " n " << n;
      }
    }
  }
}

int16_t plain_sat16(int64_t x) { return static_cast<int16_t>(clamp<int64_t>(x, -32768, 32767)); }

TEST_F(EmbeddingTest, GivenVectorsAreThePlainSum) {
  const auto variants = variants_of<EmbeddingVectorFn>();
  Draws draws(16);
  for (int repeat = 0; repeat < 30; ++repeat) {
    for (size_t n : tail_sizes()) {
      Guarded<int16_t> src(n), position(n), segment(n), expected(n);
      const bool with_segment = repeat % 2 == 0;
      const int32_t multiplier = draws.in32(0, INT32_MAX);
      for (size_t c = 0; c < n; ++c) {
        src[c] = draws.in16(-32768, 32767);
        position[c] = draws.in16(-32768, 32767);
        segment[c] = draws.in16(-32768, 32767);
        expected[c] = plain_sat16(plain_shift_round(int64_t{src[c]} * multiplier, 16) +
                                  position[c] + (with_segment ? segment[c] : 0));
      }
      EmbeddingVectorArgs args = {
          n,      src.data(), multiplier, position.data(), with_segment ? segment.data() : nullptr,
          nullptr};
      for (const auto& variant : variants) {
        Guarded<int16_t> actual(n), both(n);
        args.src = src.data(), args.dst = actual.data();
        variant.function(args);
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " n " << n;
        both.copy_from(src);
        args.src = args.dst = both.data();
        variant.function(args);
        ASSERT_TRUE(both.same_as(expected)) << variant.name << " in place, n " << n;
      }
    }
  }
}

TEST_F(HiddenRowsTest, AreThePlainOnes) {
  const auto variants = variants_of<RescaleChannelsFn>();
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
        variant.function({m, n, src.data(), stride, multiplier.data(), offset.data(), actual.data(),
                          dst_stride});
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " m " << m << " n " << n;
        both.copy_from(src);
        variant.function(
            {m, n, both.data(), stride, multiplier.data(), offset.data(), both.data(), stride});
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
