// SPDX-License-Identifier: Apache-2.0
// Activations against the scalar kernel, and every input of every kind.
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using RequantizeActivationTest = SeededTest;

struct Kind {
  const char* name;
  Activation activation;  // with exponent 0
};
constexpr Kind kKinds[] = {
    {"gelu", {kGeluNodes, 64, 2786, 0, 0}},  {"gelu_new", {kGeluNewNodes, 64, 2788, 0, 0}},
    {"silu", {kSiluNodes, 256, 4562, 0, 0}}, {"tanh", {kTanhNodes, 128, 16384, 1, 0}},
    {"relu", {nullptr, 0, 0, 0, 0}},
};

TEST_F(RequantizeActivationTest, EqualsScalar) {
  const auto variants = variants_of(&Kernels::requantize_activation);
  Draws draws(4);
  size_t turn = 0;
  for (int repeat = 0; repeat < 32; ++repeat) {
    for (const RowShape& s : row_shapes(draws)) {
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
      args.activation = kind.activation;
      args.activation.exponent = 5 + static_cast<int32_t>(draws.below(8));
      args.dst_stride = s.dst_stride;
      SCOPED_TRACE(kind.name);
      ASSERT_NO_FATAL_FAILURE(expect_equals_scalar(variants, args, &expected));
    }
  }
}

// Every input of every kind: multiplier 2^30 and a left shift of 1 leave acc as it is.
TEST_F(RequantizeActivationTest, EveryInput) {
  const auto variants = variants_of(&Kernels::requantize_activation);
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
      args.activation = kind.activation;
      args.activation.exponent = exponent;
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
