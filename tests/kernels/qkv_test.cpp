// SPDX-License-Identifier: Apache-2.0
// Keys and values as right operands against the scalar law: texts of every small length, written in
// one call or in chunks. Appended ones against plain formulas: a cache that grows by any number of
// tokens.
#include "kernels/dispatch.hpp"
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using RequantizeKeyTest = SeededTest;
using RequantizeValueTest = SeededTest;
using AppendTest = SeededTest;

std::vector<size_t> head_sizes() {
  std::vector<size_t> sizes;
  for (size_t n = 1; n <= 70; ++n) sizes.push_back(n);
  sizes.push_back(96);
  sizes.push_back(128);
  return sizes;
}

// Where a text is cut into calls: multiples of 4 tokens.
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

TEST_F(RequantizeKeyTest, EqualsScalar) {
  const auto variants = variants_of<RequantizeKeyFn>();
  Draws draws(41);
  size_t turn = 0;
  for (int repeat = 0; repeat < 48; ++repeat) {
    for (size_t n : head_sizes()) {
      const size_t tokens = 1 + draws.below(50), k = pad_inputs(n);
      Inputs in(draws, tokens, n, turn++);
      // Columns beyond the text are not written: the buffers keep their canaries there.
      Guarded<int8_t> expected(pad_columns(tokens) * k);
      Guarded<int32_t> expected_sums(pad_columns(tokens));
      variants[0].function({tokens, n, 0, in.acc.data(), in.stride, in.factor, expected.data(),
                            expected_sums.data()});
      for (const auto& variant : variants) {
        Guarded<int8_t> actual(expected.size());
        Guarded<int32_t> sums(expected_sums.size());
        const std::vector<size_t> cuts = draw_cuts(draws, tokens);
        for (size_t i = 0; i + 1 < cuts.size(); ++i) {
          variant.function({cuts[i + 1] - cuts[i], n, cuts[i], &in.acc[cuts[i] * in.stride],
                            in.stride, in.factor, actual.data(), sums.data()});
        }
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " tokens " << tokens << " n " << n;
        ASSERT_TRUE(sums.same_as(expected_sums))
            << variant.name << " tokens " << tokens << " n " << n;
      }
    }
  }
}

TEST_F(RequantizeValueTest, EqualsScalar) {
  const auto variants = variants_of<RequantizeValueFn>();
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
      variants[0].function({tokens, n, 0, k, in.acc.data(), in.stride, in.factor, expected.data(),
                            with_sums ? expected_sums.data() : nullptr});
      for (const auto& variant : variants) {
        Guarded<int8_t> actual(expected.size());
        Guarded<int32_t> sums(expected_sums.size());
        const std::vector<size_t> cuts = draw_cuts(draws, tokens);
        for (size_t i = 0; i + 1 < cuts.size(); ++i) {
          variant.function({cuts[i + 1] - cuts[i], n, cuts[i], k, &in.acc[cuts[i] * in.stride],
                            in.stride, in.factor, actual.data(),
                            with_sums ? sums.data() : nullptr});
        }
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " tokens " << tokens << " n " << n;
        ASSERT_TRUE(sums.same_as(expected_sums))
            << variant.name << " tokens " << tokens << " n " << n;
      }
    }
  }
}

// Every 16-bit value through the planes: multiplier 2^30 and a left shift of 1 hand acc through.
TEST_F(RequantizeValueTest, EveryValue) {
  const auto variants = variants_of<RequantizeValueFn>();
  const size_t tokens = 4100, n = 16;
  Guarded<int32_t> acc(tokens * n, 64), multiplier(n);
  for (size_t i = 0; i < tokens * n; ++i) acc[i] = static_cast<int32_t>(i) - 32800;
  for (size_t c = 0; c < n; ++c) multiplier[c] = 1 << 30;
  Guarded<int8_t> expected(2 * n * tokens);
  const Requantize factor = {multiplier.data(), 1, 0};
  variants[0].function({tokens, n, 0, tokens, acc.data(), n, factor, expected.data(), nullptr});
  for (const auto& variant : variants) {
    Guarded<int8_t> actual(expected.size());
    variant.function({tokens, n, 0, tokens, acc.data(), n, factor, actual.data(), nullptr});
    EXPECT_TRUE(actual.same_as(expected)) << variant.name;
  }
}

// Where a cache is cut into calls: anywhere.
std::vector<size_t> draw_any_cuts(Draws& draws, size_t tokens) {
  std::vector<size_t> cuts = {0};
  while (cuts.back() < tokens) {
    const size_t step = 1 + draws.below(draws.below(2) == 0 ? 1 : tokens);
    cuts.push_back(std::min(cuts.back() + step, tokens));
  }
  return cuts;
}

// The place of (column, input) as kernels/arithmetic/layout.hpp draws it.
size_t place(size_t column, size_t input, size_t inputs) {
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
          expected[place(t, c, k)] = static_cast<int8_t>(value);
          expected_sums[t] += static_cast<int32_t>(value);
        }
      }
      for (const uint32_t isas : {uint32_t{kIsaScalar}, runnable_isas()}) {
        const RequantizeKeyFn append = select_kernels(isas).append_key;
        Guarded<int8_t> actual(expected.size());
        Guarded<int32_t> sums(expected_sums.size());
        const std::vector<size_t> cuts = draw_any_cuts(draws, tokens);
        for (size_t i = 0; i + 1 < cuts.size(); ++i) {
          append({cuts[i + 1] - cuts[i], n, cuts[i], &in.acc[cuts[i] * in.stride], in.stride,
                  in.factor, actual.data(), sums.data()});
        }
        ASSERT_TRUE(actual.same_as(expected)) << "tokens " << tokens << " n " << n;
        ASSERT_TRUE(sums.same_as(expected_sums)) << "tokens " << tokens << " n " << n;
      }
    }
  }
}

// After every call: the tokens so far, zeros to the end of the step, nothing beyond.
TEST_F(AppendTest, ValuesAreThePlainOnes) {
  Draws draws(44);
  size_t turn = 0;
  for (int repeat = 0; repeat < 12; ++repeat) {
    for (const size_t n : head_sizes()) {
      const size_t tokens = 1 + draws.below(50), columns = pad_columns(n);
      const size_t k = pad_inputs(tokens) + 4 * draws.below(5);
      const bool with_sums = draws.below(2) != 0;
      Inputs in(draws, tokens, n, turn++);
      for (const uint32_t isas : {uint32_t{kIsaScalar}, runnable_isas()}) {
        const RequantizeValueFn append = select_kernels(isas).append_value;
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
              expected[place(c, t, k)] = static_cast<int8_t>(high);
              expected[place(columns + c, t, k)] = static_cast<int8_t>(low);
              if (with_sums) expected_sums[c] += static_cast<int32_t>(high);
              if (with_sums) expected_sums[columns + c] += static_cast<int32_t>(low);
            }
          }
          append({end - begin, n, begin, k, &in.acc[begin * in.stride], in.stride, in.factor,
                  actual.data(), with_sums ? sums.data() : nullptr});
          ASSERT_TRUE(actual.same_as(expected)) << "tokens " << end << " n " << n;
          ASSERT_TRUE(sums.same_as(expected_sums)) << "tokens " << end << " n " << n;
        }
      }
    }
  }
}

}  // namespace
}  // namespace embert
