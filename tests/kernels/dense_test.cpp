// SPDX-License-Identifier: Apache-2.0
// Dense layers in one step against the scalar kernels of their two steps: the columns that a
// variant takes, and no byte behind them.
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

struct DenseShape {
  size_t m, n, k;
};

// The longest rows that I8MM packs at once; the first are those of dotprod, too.
constexpr DenseShape kLongestOfI8mm[] = {{32, 48, 1536}, {4, 48, 3680}};

std::vector<DenseShape> dense_shapes(Draws& draws) {
  std::vector<DenseShape> shapes;
  for (size_t m = 1; m <= 33; ++m) {
    for (const size_t n : std::initializer_list<size_t>{31, 32, 33, 64, 100, 160}) {
      shapes.push_back({m, n, kStepInputs * (1 + draws.below(24))});
    }
  }
  shapes.push_back({24, 384, 1536});
  for (const DenseShape& s : kLongestOfI8mm) {
    shapes.push_back(s);
    shapes.push_back({s.m, s.n, s.k + kStepInputs});
  }
  shapes.push_back({8, 320, 64});  // more columns than a variant of Arm multiplies at a time
  return shapes;
}

// Operands of a product, every byte of which may be any.
class Product {
 public:
  Product(const DenseShape& s, Draws& draws)
      : lhs_((s.m - 1) * (s.k + 5) + s.k),
        rhs_(pad_columns(s.n) * s.k, 64),
        reordered_(pad_columns(s.n) * s.k, 64),
        bias_(pad_columns(s.n)),
        sums_(pad_columns(s.n)),
        columns_(s.n > 256 ? 512 : 64 + 32 * draws.below(2)),
        scratch_(s.m * columns_, 64) {
    draws.fill(lhs_.data(), lhs_.size(), 0, 255);
    draws.fill(rhs_.data(), rhs_.size(), -127, 127);
    draws.fill(bias_.data(), bias_.size(), -1000000, 1000000);
    for (size_t j = 0; j < pad_columns(s.n); ++j) {
      sums_[j] = 0;
      for (size_t c = 0; c < s.k; ++c) sums_[j] += rhs_[n16k4_index(j, c, s.k)];
    }
    to_n8k16(rhs_.data(), pad_columns(s.n), s.k, reordered_.data());
    args = {.m = s.m,
            .n = pad_columns(s.n),
            .k = s.k,
            .lhs = lhs_.data(),
            .lhs_stride = s.k + 5,
            .lhs_type = draws.below(2) != 0 ? LhsType::kSigned : LhsType::kUnsigned,
            .rhs = rhs_.data(),
            .bias = draws.below(2) != 0 ? bias_.data() : nullptr,
            .sums = sums_.data(),
            .dst = scratch_.data(),
            .dst_stride = columns_};
  }

  /// The exact sums [m][pad_columns(n)].
  std::vector<int32_t> sums() const {
    std::vector<int32_t> sums(args.m * args.n);
    GemmArgs scalar = args;
    scalar.dst = sums.data();
    scalar.dst_stride = args.n;
    gemm_s32_n16k4_scalar(scalar);
    return sums;
  }
  GemmArgs in_order(RhsOrder order) const {
    GemmArgs ordered = args;
    ordered.rhs_order = order;
    if (order == RhsOrder::kN8K16) ordered.rhs = reordered_.data();
    return ordered;
  }
  bool is_intact() const { return scratch_.surroundings_intact() && lhs_.surroundings_intact(); }

  GemmArgs args;

 private:
  Guarded<uint8_t> lhs_;
  Guarded<int8_t> rhs_, reordered_;  ///< in n16k4, and the same in n8k16
  Guarded<int32_t> bias_, sums_;
  size_t columns_;  ///< of the scratch
  Guarded<int32_t> scratch_;
};

/// Columns 0..columns - 1 of expected, and canaries behind them.
template <typename T>
void expect_columns(const Guarded<T>& actual, const Guarded<T>& expected, const DenseShape& s,
                    size_t columns) {
  const Guarded<T> untouched(expected.size());
  EXPECT_TRUE(actual.surroundings_intact());
  for (size_t i = 0; i < s.m; ++i) {
    const size_t row = i * s.n;
    EXPECT_EQ(memcmp(actual.data() + row, expected.data() + row, columns * sizeof(T)), 0) << i;
    EXPECT_EQ(memcmp(actual.data() + row + columns, untouched.data() + row + columns,
                     (s.n - columns) * sizeof(T)),
              0)
        << i;
  }
}

// How many columns the variants took in all: a test whose variants take none shows nothing.
void expect_taken(uint32_t isas, size_t columns) { EXPECT_EQ(columns > 0, isas != kIsaScalar); }
// A multiple of 32, or all. Dotprod and I8MM take all of a layer whose packed rows fit their stack.
void expect_columns_taken(uint32_t isa, const DenseShape& s, size_t columns) {
  EXPECT_TRUE(columns % 32 == 0 || columns == s.n) << columns;
  if ((isa & kIsaI8mm) != 0) {
    bool fits = s.m > 1 && s.m <= 32;
    for (const DenseShape& longest : kLongestOfI8mm) {
      if (s.m == longest.m && s.k > longest.k) fits = false;
    }
    EXPECT_EQ(columns, fits ? s.n : 0);
  } else if ((isa & kIsaDotprod) != 0) {
    EXPECT_EQ(columns, s.m * s.k <= 48 * 1024 ? s.n : 0);
  }
}

class DenseTest : public SeededTest {};

TEST_F(DenseTest, ActivationEqualsTwoSteps) {
  const auto variants = variants_of(&Kernels::dense_activation);
  constexpr Activation kinds[] = {{kGeluNodes, 64, 2786, 0, 0},
                                  {kGeluNewNodes, 64, 2788, 0, 0},
                                  {kSiluNodes, 256, 4562, 0, 0},
                                  {kTanhNodes, 128, 16384, 1, 0},
                                  {nullptr, 0, 0, 0, 0}};
  Draws draws(31);
  size_t turn = 0, taken = 0;
  uint32_t isas = 0;
  for (const DenseShape& s : dense_shapes(draws)) {
    Product product(s, draws);
    const std::vector<int32_t> sums = product.sums();
    Guarded<int32_t> multiplier(pad_columns(s.n));
    fill_multipliers(draws, multiplier.data(), multiplier.size());
    Guarded<uint16_t> expected(s.m * s.n);
    RequantizeActivationArgs args = {};
    args.m = s.m, args.n = s.n;
    args.acc = sums.data(), args.acc_stride = pad_columns(s.n);
    args.factor.multiplier = multiplier.data();
    set_shifts(turn++, &args.factor);
    args.activation = kinds[draws.below(2) != 0 ? 0 : draws.below(5)];
    args.activation.exponent = 5 + static_cast<int32_t>(draws.below(8));
    args.dst = expected.data(), args.dst_stride = s.n;
    requantize_activation_scalar(args);
    for (const auto& variant : variants) {
      for (const RhsOrder order : orders_of(variant.isa)) {
        SCOPED_TRACE(testing::Message() << variant.name << " m " << s.m << " n " << s.n << " k "
                                        << s.k << " turn " << turn << " order " << int(order));
        Guarded<uint16_t> actual(expected.size());
        args.acc = nullptr, args.dst = actual.data();
        const size_t columns = variant.function({product.in_order(order), args});
        ASSERT_LE(columns, s.n);
        expect_columns_taken(variant.isa, s, columns);
        expect_columns(actual, expected, s, columns);
        EXPECT_TRUE(product.is_intact());
        taken += columns;
        isas |= variant.isa;
      }
    }
  }
  expect_taken(isas, taken);
}

TEST_F(DenseTest, ResidualEqualsTwoSteps) {
  const auto variants = variants_of(&Kernels::dense_residual);
  Draws draws(32);
  size_t turn = 0, taken = 0;
  uint32_t isas = 0;
  for (const DenseShape& s : dense_shapes(draws)) {
    Product product(s, draws);
    const std::vector<int32_t> sums = product.sums();
    const ResidualOperands operands(draws, s.m, s.n, s.m * s.n);
    const Guarded<int16_t>& residual = operands.residual;
    Guarded<int16_t> expected(residual.size());
    RequantizeResidualArgs args = {};
    args.m = s.m, args.n = s.n;
    args.acc = sums.data(), args.acc_stride = pad_columns(s.n);
    operands.give_to(&args);
    set_shifts(turn++, &args.factor);
    args.dst = expected.data(), args.dst_stride = s.n;
    requantize_residual_scalar(args);
    for (const auto& variant : variants) {
      for (const RhsOrder order : orders_of(variant.isa)) {
        SCOPED_TRACE(testing::Message() << variant.name << " m " << s.m << " n " << s.n << " k "
                                        << s.k << " turn " << turn << " order " << int(order));
        Guarded<int16_t> actual(expected.size()), in_place(expected.size());
        args.acc = nullptr, args.residual = residual.data(), args.dst = actual.data();
        const size_t columns = variant.function({product.in_order(order), args});
        ASSERT_LE(columns, s.n);
        expect_columns_taken(variant.isa, s, columns);
        expect_columns(actual, expected, s, columns);
        in_place.copy_from(residual);
        args.residual = args.dst = in_place.data();
        EXPECT_EQ(variant.function({product.in_order(order), args}), columns);
        for (size_t i = 0; i < s.m; ++i) {
          const size_t row = i * s.n;
          EXPECT_EQ(memcmp(in_place.data() + row, expected.data() + row, columns * sizeof(int16_t)),
                    0);
          EXPECT_EQ(memcmp(in_place.data() + row + columns, residual.data() + row + columns,
                           (s.n - columns) * sizeof(int16_t)),
                    0);
        }
        EXPECT_TRUE(product.is_intact());
        taken += columns;
        isas |= variant.isa;
      }
    }
  }
  expect_taken(isas, taken);
}

}  // namespace
}  // namespace embert
