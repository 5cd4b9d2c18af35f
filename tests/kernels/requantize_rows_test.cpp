// SPDX-License-Identifier: Apache-2.0
// Row-wise requantisations against the scalar law: queries, activation, residual, context.
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using RequantizeLhsTest = SeededTest;
using RequantizeResidualTest = SeededTest;
using RequantizeContextTest = SeededTest;
using RequantizeActivationTest = SeededTest;

// Shapes and padded strides of one call.
struct Shape {
  size_t m, n, acc_stride, dst_stride;
};
std::vector<Shape> shapes(Draws& draws) {
  std::vector<Shape> all;
  for (size_t n : tail_sizes()) {
    for (size_t m : {size_t{1}, 2 + draws.below(8), size_t{32}}) {
      if (m == 32 && n > 70 && n != 384) continue;
      const size_t acc_stride = pad_columns(n) + 16 * draws.below(2);
      all.push_back({m, n, acc_stride, pad_inputs(n) + draws.below(5)});
    }
  }
  return all;
}
size_t extent(size_t m, size_t stride, size_t n) { return (m - 1) * stride + n; }

TEST_F(RequantizeLhsTest, EqualsScalar) {
  const auto variants = variants_of<RequantizeQueryFn>();
  Draws draws(1);
  size_t turn = 0;
  for (int repeat = 0; repeat < 32; ++repeat) {
    for (const Shape& s : shapes(draws)) {
      Guarded<int32_t> acc(extent(s.m, s.acc_stride, pad_columns(s.n)), 64);
      Guarded<int32_t> multiplier(pad_columns(s.n));
      Guarded<uint8_t> expected(extent(s.m, s.dst_stride, pad_inputs(s.n)));
      fill_accumulators(draws, acc.data(), acc.size());
      fill_multipliers(draws, multiplier.data(), multiplier.size());
      RequantizeQueryArgs args = {s.m, s.n, acc.data(), s.acc_stride, {}, nullptr, s.dst_stride};
      args.factor.multiplier = multiplier.data();
      set_shifts(turn++, &args.factor);
      args.dst = expected.data();
      variants[0].function(args);
      for (size_t v = 1; v < variants.size(); ++v) {
        Guarded<uint8_t> actual(expected.size());
        args.dst = actual.data();
        variants[v].function(args);
        ASSERT_TRUE(actual.same_as(expected))
            << variants[v].name << " m " << s.m << " n " << s.n << " turn " << turn;
      }
    }
  }
}

// dst may be the residual: both forms.
TEST_F(RequantizeResidualTest, EqualsScalar) {
  const auto variants = variants_of<RequantizeResidualFn>();
  Draws draws(2);
  size_t turn = 0;
  for (int repeat = 0; repeat < 32; ++repeat) {
    for (const Shape& s : shapes(draws)) {
      Guarded<int32_t> acc(extent(s.m, s.acc_stride, pad_columns(s.n)), 64);
      Guarded<int32_t> multiplier(pad_columns(s.n)), residual_multiplier(pad_columns(s.n)),
          constant(pad_columns(s.n)), row_max(s.m);
      Guarded<int16_t> residual(extent(s.m, s.dst_stride, s.n)), expected(residual.size());
      fill_accumulators(draws, acc.data(), acc.size());
      fill_multipliers(draws, multiplier.data(), multiplier.size());
      for (size_t c = 0; c < pad_columns(s.n); ++c) {
        residual_multiplier[c] = draws.in32(-(1 << 29) + 1, (1 << 29) - 1);
        constant[c] = draws.in32(-(1 << 28) + (1 << 19), (1 << 28) - (1 << 19));
      }
      for (size_t i = 0; i < s.m; ++i) row_max[i] = draws.in32(1, 32767);
      for (size_t i = 0; i < residual.size(); ++i) residual[i] = draws.in16(-32768, 32767);
      RequantizeResidualArgs args = {};
      args.m = s.m, args.n = s.n;
      args.acc = acc.data(), args.acc_stride = s.acc_stride;
      args.factor.multiplier = multiplier.data();
      set_shifts(turn++, &args.factor);
      args.row_max = row_max.data();
      args.residual = residual.data();
      args.residual_multiplier = residual_multiplier.data();
      args.constant = constant.data();
      args.dst_stride = s.dst_stride;
      args.dst = expected.data();
      variants[0].function(args);
      for (size_t v = 1; v < variants.size(); ++v) {
        Guarded<int16_t> actual(expected.size());
        args.dst = actual.data();
        args.residual = residual.data();
        variants[v].function(args);
        ASSERT_TRUE(actual.same_as(expected))
            << variants[v].name << " m " << s.m << " n " << s.n << " turn " << turn;
      }
      for (const auto& variant : variants) {
        Guarded<int16_t> both(residual.size());
        both.copy_from(residual);
        args.residual = args.dst = both.data();
        variant.function(args);
        for (size_t i = 0; i < s.m; ++i) {
          ASSERT_EQ(memcmp(both.data() + i * s.dst_stride, expected.data() + i * s.dst_stride,
                           s.n * sizeof(int16_t)),
                    0)
              << variant.name << " in place, m " << s.m << " n " << s.n;
        }
      }
    }
  }
}

TEST_F(RequantizeContextTest, EqualsScalar) {
  const auto variants = variants_of<RequantizeContextFn>();
  Draws draws(3);
  size_t turn = 0;
  for (int repeat = 0; repeat < 32; ++repeat) {
    for (const Shape& s : shapes(draws)) {
      if (s.n > 384) continue;
      const size_t columns = pad_columns(s.n), acc_stride = 2 * columns + s.acc_stride - columns;
      Guarded<int32_t> acc(extent(s.m, acc_stride, 2 * columns), 64);
      Guarded<int32_t> multiplier(columns);
      Guarded<Reciprocal> row(s.m);
      Guarded<int16_t> expected(extent(s.m, s.dst_stride, s.n));
      for (size_t i = 0; i < s.m; ++i) {
        const int32_t sum = draws.in32(1, (1 << 24) - 1);
        // With the head's factor, if it has one.
        row[i] = scale_reciprocal(reciprocal(static_cast<uint32_t>(sum)),
                                  draws.below(2) == 0 ? 32768 : draws.in32(0, 32768));
        const int64_t bound = int64_t{127} * sum;
        for (size_t c = 0; c < 2 * columns; ++c) {
          acc[i * acc_stride + c] = draws.in32(-bound, bound);
        }
      }
      fill_multipliers(draws, multiplier.data(), columns);
      RequantizeContextArgs args = {};
      args.m = s.m, args.n = s.n;
      args.acc = acc.data(), args.acc_stride = acc_stride;
      args.row = row.data();
      args.factor.multiplier = multiplier.data();
      set_shifts(turn++, &args.factor);
      args.dst_stride = s.dst_stride;
      args.dst = expected.data();
      variants[0].function(args);
      for (size_t v = 1; v < variants.size(); ++v) {
        Guarded<int16_t> actual(expected.size());
        args.dst = actual.data();
        variants[v].function(args);
        ASSERT_TRUE(actual.same_as(expected))
            << variants[v].name << " m " << s.m << " n " << s.n << " turn " << turn;
      }
    }
  }
}

struct Kind {
  const char* name;
  const int16_t* nodes;
  int32_t intervals, offset_q14, odd;
};
constexpr Kind kKinds[] = {
    {"gelu", kGeluNodes, 64, 2786, 0},  {"gelu_new", kGeluNewNodes, 64, 2788, 0},
    {"silu", kSiluNodes, 256, 4562, 0}, {"tanh", kTanhNodes, 128, 16384, 1},
    {"relu", nullptr, 0, 0, 0},
};

TEST_F(RequantizeActivationTest, EqualsScalar) {
  const auto variants = variants_of<RequantizeActivationFn>();
  Draws draws(4);
  size_t turn = 0;
  for (int repeat = 0; repeat < 32; ++repeat) {
    for (const Shape& s : shapes(draws)) {
      Guarded<int32_t> acc(extent(s.m, s.acc_stride, pad_columns(s.n)), 64);
      Guarded<int32_t> multiplier(pad_columns(s.n));
      Guarded<uint16_t> expected(extent(s.m, s.dst_stride, s.n));
      fill_accumulators(draws, acc.data(), acc.size());
      fill_multipliers(draws, multiplier.data(), multiplier.size());
      RequantizeActivationArgs args = {};
      args.m = s.m, args.n = s.n;
      args.acc = acc.data(), args.acc_stride = s.acc_stride;
      args.factor.multiplier = multiplier.data();
      set_shifts(turn++, &args.factor);
      const Kind& kind = kKinds[draws.below(5)];
      args.activation = {kind.nodes, kind.intervals, kind.offset_q14, kind.odd,
                         5 + static_cast<int32_t>(draws.below(8))};
      args.dst_stride = s.dst_stride;
      args.dst = expected.data();
      variants[0].function(args);
      for (size_t v = 1; v < variants.size(); ++v) {
        Guarded<uint16_t> actual(expected.size());
        args.dst = actual.data();
        variants[v].function(args);
        ASSERT_TRUE(actual.same_as(expected)) << variants[v].name << " m " << s.m << " n " << s.n
                                              << " turn " << turn << " " << kind.name;
      }
    }
  }
}

// Every input of every kind: multiplier 2^30 and a left shift of 1 hand acc through unchanged.
TEST_F(RequantizeActivationTest, EveryInput) {
  const auto variants = variants_of<RequantizeActivationFn>();
  const size_t n = 65552;  // from -32776 on: some beyond the clamp at both ends
  Guarded<int32_t> acc(n, 64), multiplier(n);
  for (size_t c = 0; c < n; ++c) {
    acc[c] = static_cast<int32_t>(c) - 32776;
    multiplier[c] = 1 << 30;
  }
  for (const Kind& kind : kKinds) {
    for (int32_t exponent = 5; exponent <= 12; ++exponent) {
      Guarded<uint16_t> expected(n), actual(n);
      RequantizeActivationArgs args = {};
      args.m = 1, args.n = n, args.acc = acc.data(), args.acc_stride = n;
      args.factor = {multiplier.data(), 1, 0};
      args.activation = {kind.nodes, kind.intervals, kind.offset_q14, kind.odd, exponent};
      args.dst_stride = n;
      args.dst = expected.data();
      variants[0].function(args);
      for (size_t v = 1; v < variants.size(); ++v) {
        args.dst = actual.data();
        variants[v].function(args);
        ASSERT_TRUE(actual.same_as(expected))
            << variants[v].name << " " << kind.name << " exponent " << exponent;
      }
    }
  }
}

}  // namespace
}  // namespace embert
