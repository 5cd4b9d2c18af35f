// SPDX-License-Identifier: Apache-2.0
// Queries, keys and values against the scalar kernel; keys and values of texts of every small
// length, written in one call or in chunks. Appended keys and values against plain formulas: a
// cache that grows by any number of tokens.
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using RequantizeQueryTest = SeededTest;
using RequantizeKeyTest = SeededTest;
using RequantizeValueTest = SeededTest;
using AppendTest = SeededTest;

// `planes`: rows of dst for each query, and parts of such a row.
void expect_same_queries(const std::vector<KernelVariant<RequantizeQueryFn>>& variants,
                         size_t planes) {
  Draws draws(planes);
  size_t turn = 0;
  for (int repeat = 0; repeat < 32; ++repeat) {
    for (const RowShape& s : row_shapes(draws)) {
      const size_t dst_stride = planes * s.dst_stride;
      Guarded<int32_t> acc(extent(s.m, s.acc_stride, pad_columns(s.n)), 64);
      Guarded<int32_t> multiplier(pad_columns(s.n));
      Guarded<uint8_t> expected(extent(planes * s.m, dst_stride, planes * pad_inputs(s.n)));
      fill_accumulators(draws, acc.data(), acc.size());
      fill_multipliers(draws, multiplier.data(), multiplier.size());
      RequantizeQueryArgs args = {.m = s.m,
                                  .n = s.n,
                                  .acc = acc.data(),
                                  .acc_stride = s.acc_stride,
                                  .factor = {multiplier.data(), 0, 0},
                                  .dst = nullptr,
                                  .dst_stride = dst_stride};
      set_shifts(turn++, &args.factor);
      ASSERT_NO_FATAL_FAILURE(expect_equals_scalar(variants, args, &expected));
    }
  }
}

TEST_F(RequantizeQueryTest, EqualsScalar) {
  expect_same_queries(variants_of(&Kernels::requantize_query), 1);
}

TEST_F(RequantizeQueryTest, PlanesEqualScalar) {
  expect_same_queries(variants_of(&Kernels::requantize_query_s8x2), 2);
}

std::vector<size_t> head_sizes() {
  std::vector<size_t> sizes;
  for (size_t n = 1; n <= 70; ++n) sizes.push_back(n);
  sizes.push_back(96);
  sizes.push_back(128);
  return sizes;
}

// Cuts a text into calls at multiples of 4 tokens.
std::vector<size_t> draw_cuts(Draws& draws, size_t tokens) {
  std::vector<size_t> cuts = {0};
  while (cuts.back() < tokens) {
    const size_t step = draws.below(2) == 0 ? tokens : 4 + 4 * draws.below(5);
    cuts.push_back(cuts.back() + step < tokens ? cuts.back() + step : tokens);
  }
  return cuts;
}

struct Inputs {
  Inputs(Draws& draws, size_t tokens, size_t n, size_t turn)
      : stride(pad_columns(n) + 16 * draws.below(2)),
        acc((tokens - 1) * stride + pad_columns(n), 64),
        multiplier(pad_columns(n)) {
    fill_accumulators(draws, acc.data(), acc.size());
    fill_multipliers(draws, multiplier.data(), multiplier.size());
    factor.multiplier = multiplier.data();
    set_shifts(turn, &factor);
  }
  size_t stride;
  Guarded<int32_t> acc, multiplier;
  Requantize factor;
};

// `planes`: parts of a column.
void expect_same_keys(const std::vector<KernelVariant<RequantizeKeyFn>>& variants, size_t planes) {
  Draws draws(40 + planes);
  size_t turn = 0;
  for (int repeat = 0; repeat < 48; ++repeat) {
    for (size_t n : head_sizes()) {
      const size_t tokens = 1 + draws.below(50), k = planes * pad_inputs(n);
      Inputs in(draws, tokens, n, turn++);
      // Columns beyond the text are not written: the buffers keep their canaries there.
      Guarded<int8_t> expected(pad_columns(tokens) * k);
      Guarded<int32_t> expected_sums(pad_columns(tokens));
      variants[0].function({.m = tokens,
                            .n = n,
                            .row0 = 0,
                            .acc = in.acc.data(),
                            .acc_stride = in.stride,
                            .factor = in.factor,
                            .dst = expected.data(),
                            .sums = expected_sums.data()});
      for (const auto& variant : variants) {
        Guarded<int8_t> actual(expected.size());
        Guarded<int32_t> sums(expected_sums.size());
        const std::vector<size_t> cuts = draw_cuts(draws, tokens);
        for (size_t i = 0; i + 1 < cuts.size(); ++i) {
          variant.function({.m = cuts[i + 1] - cuts[i],
                            .n = n,
                            .row0 = cuts[i],
                            .acc = &in.acc[cuts[i] * in.stride],
                            .acc_stride = in.stride,
                            .factor = in.factor,
                            .dst = actual.data(),
                            .sums = sums.data()});
        }
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " tokens " << tokens << " n " << n;
        ASSERT_TRUE(sums.same_as(expected_sums))
            << variant.name << " tokens " << tokens << " n " << n;
      }
    }
  }
}

TEST_F(RequantizeKeyTest, EqualsScalar) {
  expect_same_keys(variants_of(&Kernels::requantize_key), 1);
}

TEST_F(RequantizeKeyTest, PlanesEqualScalar) {
  expect_same_keys(variants_of(&Kernels::requantize_key_s8x2), 2);
}

// The rows of a query times the column of a key: 256 * first + second is the product of the 16-bit
// values, without that of their low planes, in units of 2^8. Multiplier 2^30 and a left shift of 1
// leave acc as it is.
TEST_F(RequantizeKeyTest, PlanesMakeTheProduct) {
  Draws draws(45);
  for (const size_t n : head_sizes()) {
    const size_t k = pad_inputs(n), columns = pad_columns(n);
    Guarded<int32_t> query(columns, 64), key(columns, 64), multiplier(columns);
    for (size_t c = 0; c < columns; ++c) {
      query[c] = static_cast<int32_t>(draws.below(70000)) - 35000;
      key[c] = static_cast<int32_t>(draws.below(70000)) - 35000;
      multiplier[c] = 1 << 30;
    }
    const Requantize as_it_is = {multiplier.data(), 1, 0};
    Guarded<uint8_t> rows(4 * k);
    Guarded<int8_t> column(16 * 2 * k);
    Guarded<int32_t> sums(16);
    requantize_query_s8x2_scalar({.m = 1,
                                  .n = n,
                                  .acc = query.data(),
                                  .acc_stride = columns,
                                  .factor = as_it_is,
                                  .dst = rows.data(),
                                  .dst_stride = 2 * k});
    requantize_key_s8x2_scalar({.m = 1,
                                .n = n,
                                .row0 = 0,
                                .acc = key.data(),
                                .acc_stride = columns,
                                .factor = as_it_is,
                                .dst = column.data(),
                                .sums = sums.data()});
    int64_t found[2] = {}, sum = 0;
    for (size_t c = 0; c < 2 * k; ++c) {
      const int8_t of_key = column[c / 4 * 64 + c % 4];
      sum += of_key;
      for (size_t plane = 0; plane < 2; ++plane) {
        found[plane] += of_key * static_cast<int8_t>(rows[plane * 2 * k + c] ^ kSignedLhsFlip);
      }
    }
    int64_t expected = 0;
    for (size_t c = 0; c < n; ++c) {
      const int32_t q = clamp<int32_t>(query[c], -32512, 32512),
                    key_c = clamp<int32_t>(key[c], -32512, 32512);
      const int64_t q_high = plane_high(q), q_low = plane_low(q), k_high = plane_high(key_c),
                    k_low = plane_low(key_c);
      expected += (256 * q_high + q_low) * (256 * k_high + k_low) - q_low * k_low;
    }
    EXPECT_EQ(256 * (256 * found[0] + found[1]), expected) << "n " << n;
    EXPECT_EQ(sums[0], sum) << "n " << n;
  }
}

TEST_F(RequantizeValueTest, EqualsScalar) {
  const auto variants = variants_of(&Kernels::requantize_value);
  Draws draws(42);
  size_t turn = 0;
  for (int repeat = 0; repeat < 48; ++repeat) {
    for (size_t n : head_sizes()) {
      const size_t tokens = 1 + draws.below(50), columns = pad_columns(n);
      const size_t k = pad_inputs(tokens) + 4 * draws.below(3);  // of a text or of a cache
      const bool with_sums = draws.below(2) != 0;
      Inputs in(draws, tokens, n, turn++);
      Guarded<int8_t> expected(2 * columns * k);
      Guarded<int32_t> expected_sums(2 * columns);
      variants[0].function({.m = tokens,
                            .n = n,
                            .row0 = 0,
                            .k = k,
                            .acc = in.acc.data(),
                            .acc_stride = in.stride,
                            .factor = in.factor,
                            .dst = expected.data(),
                            .sums = with_sums ? expected_sums.data() : nullptr});
      for (const auto& variant : variants) {
        Guarded<int8_t> actual(expected.size());
        Guarded<int32_t> sums(expected_sums.size());
        const std::vector<size_t> cuts = draw_cuts(draws, tokens);
        for (size_t i = 0; i + 1 < cuts.size(); ++i) {
          variant.function({.m = cuts[i + 1] - cuts[i],
                            .n = n,
                            .row0 = cuts[i],
                            .k = k,
                            .acc = &in.acc[cuts[i] * in.stride],
                            .acc_stride = in.stride,
                            .factor = in.factor,
                            .dst = actual.data(),
                            .sums = with_sums ? sums.data() : nullptr});
        }
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " tokens " << tokens << " n " << n;
        ASSERT_TRUE(sums.same_as(expected_sums))
            << variant.name << " tokens " << tokens << " n " << n;
      }
    }
  }
}

// Every 16-bit value through the planes: multiplier 2^30 and a left shift of 1 leave acc as it is.
TEST_F(RequantizeValueTest, EveryValue) {
  const auto variants = variants_of(&Kernels::requantize_value);
  const size_t tokens = 4100, n = 16;
  Guarded<int32_t> acc(tokens * n, 64), multiplier(n);
  for (size_t i = 0; i < tokens * n; ++i) acc[i] = static_cast<int32_t>(i) - 32800;
  for (size_t c = 0; c < n; ++c) multiplier[c] = 1 << 30;
  Guarded<int8_t> expected(2 * n * tokens);
  RequantizeValueArgs args = {.m = tokens,
                              .n = n,
                              .row0 = 0,
                              .k = tokens,
                              .acc = acc.data(),
                              .acc_stride = n,
                              .factor = {multiplier.data(), 1, 0},
                              .dst = expected.data(),
                              .sums = nullptr};
  variants[0].function(args);
  for (const auto& variant : variants) {
    Guarded<int8_t> actual(expected.size());
    args.dst = actual.data();
    variant.function(args);
    EXPECT_TRUE(actual.same_as(expected)) << variant.name;
  }
}

// Cuts a text into calls anywhere.
std::vector<size_t> draw_any_cuts(Draws& draws, size_t tokens) {
  std::vector<size_t> cuts = {0};
  while (cuts.back() < tokens) {
    const size_t step = 1 + draws.below(draws.below(2) == 0 ? 1 : tokens);
    cuts.push_back(std::min(cuts.back() + step, tokens));
  }
  return cuts;
}

// The offset of (column, input), as the drawing in kernels/arithmetic/layout.hpp shows it.
size_t plain_offset(size_t column, size_t input, size_t inputs) {
  return (column / 16 * (inputs / 4) + input / 4) * 64 + column % 16 * 4 + input % 4;
}

TEST_F(AppendTest, KeysAreThePlainOnes) {
  Draws draws(43);
  size_t turn = 0;
  for (int repeat = 0; repeat < 12; ++repeat) {
    for (const size_t n : head_sizes()) {
      const size_t capacity = 1 + draws.below(60), tokens = 1 + draws.below(capacity);
      const size_t k = pad_inputs(n);
      Inputs in(draws, tokens, n, turn++);
      Guarded<int8_t> expected(pad_columns(capacity) * k);
      Guarded<int32_t> expected_sums(pad_columns(capacity));
      for (size_t t = 0; t < tokens; ++t) {
        expected_sums[t] = 0;
        for (size_t c = 0; c < k; ++c) {
          const int64_t exact =
              c < n ? plain_requantize(in.acc[t * in.stride + c], in.factor, c) : 0;
          const int64_t value = clamp<int64_t>(exact, -127, 127);
          expected[plain_offset(t, c, k)] = static_cast<int8_t>(value);
          expected_sums[t] += static_cast<int32_t>(value);
        }
      }
      for (const auto& variant : variants_of(&Kernels::append_key)) {
        Guarded<int8_t> actual(expected.size());
        Guarded<int32_t> sums(expected_sums.size());
        const std::vector<size_t> cuts = draw_any_cuts(draws, tokens);
        for (size_t i = 0; i + 1 < cuts.size(); ++i) {
          variant.function({.m = cuts[i + 1] - cuts[i],
                            .n = n,
                            .row0 = cuts[i],
                            .acc = &in.acc[cuts[i] * in.stride],
                            .acc_stride = in.stride,
                            .factor = in.factor,
                            .dst = actual.data(),
                            .sums = sums.data()});
        }
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " tokens " << tokens << " n " << n;
        ASSERT_TRUE(sums.same_as(expected_sums))
            << variant.name << " tokens " << tokens << " n " << n;
      }
    }
  }
}

// After every call dst holds the tokens so far and zeros to the end of the step; the rest keeps its
// canary.
TEST_F(AppendTest, ValuesAreThePlainOnes) {
  Draws draws(44);
  size_t turn = 0;
  for (int repeat = 0; repeat < 12; ++repeat) {
    for (const size_t n : head_sizes()) {
      const size_t tokens = 1 + draws.below(50), columns = pad_columns(n);
      const size_t k = pad_inputs(tokens) + 4 * draws.below(5);
      const bool with_sums = draws.below(2) != 0;
      Inputs in(draws, tokens, n, turn++);
      for (const auto& variant : variants_of(&Kernels::append_value)) {
        Guarded<int8_t> actual(2 * columns * k), expected(actual.size());
        Guarded<int32_t> sums(2 * columns), expected_sums(2 * columns);
        if (with_sums) memset(expected_sums.data(), 0, 2 * columns * sizeof(int32_t));
        const std::vector<size_t> cuts = draw_any_cuts(draws, tokens);
        for (size_t i = 0; i + 1 < cuts.size(); ++i) {
          const size_t begin = cuts[i], end = cuts[i + 1];
          for (size_t c = 0; c < columns; ++c) {
            for (size_t t = begin; t < pad_inputs(end); ++t) {
              const int64_t exact =
                  t < end ? plain_requantize(in.acc[t * in.stride + c], in.factor, c) : 0;
              const int64_t v = clamp<int64_t>(exact, -32512, 32512);
              const int64_t high = (v + 32768 + 128) / 256 - 128;
              const int64_t low = std::max<int64_t>(v - 256 * high, -127);
              expected[plain_offset(c, t, k)] = static_cast<int8_t>(high);
              expected[plain_offset(columns + c, t, k)] = static_cast<int8_t>(low);
              if (with_sums) expected_sums[c] += static_cast<int32_t>(high);
              if (with_sums) expected_sums[columns + c] += static_cast<int32_t>(low);
            }
          }
          variant.function({.m = end - begin,
                            .n = n,
                            .row0 = begin,
                            .k = k,
                            .acc = &in.acc[begin * in.stride],
                            .acc_stride = in.stride,
                            .factor = in.factor,
                            .dst = actual.data(),
                            .sums = with_sums ? sums.data() : nullptr});
          ASSERT_TRUE(actual.same_as(expected)) << variant.name << " tokens " << end << " n " << n;
          ASSERT_TRUE(sums.same_as(expected_sums))
              << variant.name << " tokens " << end << " n " << n;
        }
      }
    }
  }
}

}  // namespace
}  // namespace embert
