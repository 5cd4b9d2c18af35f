// SPDX-License-Identifier: Apache-2.0
// Every GEMM variant against the scalar one, to the bit, with all buffers between guard pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/kernels/kernel_variants.hpp"
#include "tests/support/random.hpp"
#include "tests/support/system/guarded_buffer.hpp"

namespace embert {
namespace {

constexpr size_t kAlignment = 64;

struct GemmShape {
  size_t m, n, k;
  size_t lhs_padding = 0, dst_padding = 0;  // bytes, and elements in multiples of 16
  Flush flush = Flush::kEnd;
};

// The operands of one product. Every operand that the contract allows to be unaligned is unaligned.
class Problem {
 public:
  Problem(const GemmShape& s, Random& random)
      : shape_(s),
        lhs_((s.m - 1) * (s.k + s.lhs_padding) + s.k, 1, s.flush),
        rhs_(s.n * s.k, kAlignment, s.flush),
        reordered_(s.n * s.k, kAlignment, s.flush),
        bias_(s.n, alignof(int32_t), s.flush),
        sums_(s.n, alignof(int32_t), s.flush) {
    random.fill(lhs_.data(), lhs_.size(), 0, 255);
    random.fill(rhs_.data(), rhs_.size(), -127, 127);
    random.fill(bias_.data(), bias_.size(), -(1 << 30) + 1, (1 << 30) - 1, Random::kUniform);
    derive();
  }

  void fill(uint8_t lhs, int8_t weight) {
    memset(lhs_.data(), lhs, lhs_.size());
    memset(rhs_.data(), weight, rhs_.size());
    derive();
  }
  /// Each input is one of the values, each weight one of the weights.
  void draw(const std::vector<uint8_t>& values, const std::vector<int8_t>& weights,
            Random& random) {
    for (size_t i = 0; i < lhs_.size(); ++i) lhs_[i] = values[random.below(values.size())];
    for (size_t i = 0; i < rhs_.size(); ++i) rhs_[i] = weights[random.below(weights.size())];
    derive();
  }
  /// Any value anywhere, where the constructor may have drawn the same one for all.
  void draw_any(Random& random) {
    random.fill(lhs_.data(), lhs_.size(), 0, 255, Random::kUniform);
    random.fill(rhs_.data(), rhs_.size(), -127, 127, Random::kUniform);
    derive();
  }
  void zero_bias() { memset(bias_.data(), 0, bias_.size() * sizeof(int32_t)); }

  void expect_equal(LhsType type, bool with_bias) {
    GemmArgs args = {};
    args.m = shape_.m;
    args.n = shape_.n;
    args.k = shape_.k;
    args.lhs = lhs_.data();
    args.lhs_stride = shape_.k + shape_.lhs_padding;
    args.lhs_type = type;
    args.bias = with_bias ? bias_.data() : nullptr;
    // The contract forbids to read them where there is nothing to correct.
    args.sums = lhs_correction(type) == 0 ? nullptr : sums_.data();
    args.dst_stride = shape_.n + shape_.dst_padding;
    args.planes = 1 + (shape_.m + (type == LhsType::kSigned ? 0 : 1) + (with_bias ? 0 : 1)) % 2;
    const size_t dst_size = (shape_.m - 1) * args.dst_stride + shape_.n;
    GuardedBuffer<int32_t> expected(dst_size, kAlignment, shape_.flush);
    memset(expected.data(), 0x5a, dst_size * sizeof(int32_t));
    args.dst = expected.data();
    args.rhs = rhs_.data();
    gemm_s32_n16k4_scalar(args);
    for (const KernelVariant<GemmFn>& variant : variants_of(&Kernels::gemm)) {
      if (variant.isa == kIsaScalar) continue;
      for (const RhsOrder order : orders_of(variant.isa)) {
        SCOPED_TRACE(testing::Message()
                     << variant.name << " m=" << shape_.m << " n=" << shape_.n << " k=" << shape_.k
                     << " lhs_padding=" << shape_.lhs_padding
                     << " dst_padding=" << shape_.dst_padding << " bias=" << with_bias
                     << " unsigned=" << (type == LhsType::kUnsigned)
                     << " n8k16=" << (order == RhsOrder::kN8K16));
        GuardedBuffer<int32_t> actual(dst_size, kAlignment, shape_.flush);
        memset(actual.data(), 0x5a, dst_size * sizeof(int32_t));
        args.dst = actual.data();
        args.rhs_order = order;
        args.rhs = order == RhsOrder::kN8K16 ? reordered_.data() : rhs_.data();
        variant.function(args);
        // Comparing the padding between rows, too, shows that both kernels left its canary.
        EXPECT_EQ(memcmp(actual.data(), expected.data(), dst_size * sizeof(int32_t)), 0);
        EXPECT_TRUE(actual.surroundings_intact());
      }
    }
  }

  void expect_equal_in_all_modes() {
    for (const LhsType type : {LhsType::kSigned, LhsType::kUnsigned}) {
      for (const bool with_bias : {true, false}) expect_equal(type, with_bias);
    }
  }

 private:
  void derive() {
    for (size_t j = 0; j < shape_.n; ++j) {
      sums_[j] = 0;
      for (size_t c = 0; c < shape_.k; ++c) sums_[j] += rhs_[n16k4_index(j, c, shape_.k)];
    }
    to_n8k16(rhs_.data(), shape_.n, shape_.k, reordered_.data());
  }

  GemmShape shape_;
  GuardedBuffer<uint8_t> lhs_;
  GuardedBuffer<int8_t> rhs_, reordered_;  // in n16k4, and the same in n8k16
  GuardedBuffer<int32_t> bias_;
  GuardedBuffer<int32_t> sums_;
};

class GemmTest : public SeededTest {};

// The reference itself, on plain matrices without layout, flip or correction.
TEST_F(GemmTest, ScalarIsTheMatrixProduct) {
  Random random(1);
  const size_t m = 3, n = 32, k = 12;
  for (const LhsType type : {LhsType::kSigned, LhsType::kUnsigned}) {
    const bool is_signed = type == LhsType::kSigned;
    const uint8_t flip = is_signed ? kSignedLhsFlip : kUnsignedLhsFlip;
    std::vector<int32_t> values(m * k), weights(n * k), bias(n), sums(n, 0), dst(m * n);
    random.fill(values.data(), values.size(), is_signed ? -128 : 0, is_signed ? 127 : 255,
                Random::kUniform);
    random.fill(weights.data(), weights.size(), -127, 127, Random::kUniform);
    random.fill(bias.data(), bias.size(), -1000, 1000, Random::kUniform);
    std::vector<uint8_t> lhs(m * k);
    std::vector<int8_t> rhs(n * k);
    for (size_t i = 0; i < m * k; ++i) lhs[i] = static_cast<uint8_t>(values[i]) ^ flip;
    for (size_t j = 0; j < n; ++j) {
      for (size_t c = 0; c < k; ++c) {
        rhs[n16k4_index(j, c, k)] = static_cast<int8_t>(weights[j * k + c]);
        sums[j] += weights[j * k + c];
      }
    }
    gemm_s32_n16k4_scalar({.m = m,
                           .n = n,
                           .k = k,
                           .lhs = lhs.data(),
                           .lhs_stride = k,
                           .lhs_type = type,
                           .rhs = rhs.data(),
                           .bias = bias.data(),
                           .sums = sums.data(),
                           .dst = dst.data(),
                           .dst_stride = n});
    for (size_t i = 0; i < m; ++i) {
      for (size_t j = 0; j < n; ++j) {
        int32_t sum = bias[j];
        for (size_t c = 0; c < k; ++c) sum += values[i * k + c] * weights[j * k + c];
        ASSERT_EQ(dst[i * n + j], sum) << i << ' ' << j;
      }
    }
  }
}

TEST_F(GemmTest, AllRowsAndColumns) {
  Random random(2);
  for (size_t m = 1; m <= 33; ++m) {
    for (size_t n = 16; n <= 160; n += 16) {
      const size_t k = kStepInputs * (1 + random.below(16));
      Problem(GemmShape{m, n, k}, random).expect_equal_in_all_modes();
    }
  }
}

TEST_F(GemmTest, AllInputCounts) {
  Random random(3);
  for (size_t k = 4; k <= 160; k += 4) {
    const size_t m = 1 + random.below(17), n = kPanelColumns * (1 + random.below(7));
    Problem(GemmShape{m, n, k}, random).expect_equal_in_all_modes();
  }
}

#if EMBERT_X86
// The kernel of AMX leaves small products and those of less than a tile of inputs to that of
// AVX512-VNNI. Here are tiles of all numbers of rows, inputs that fill a tile, some tiles, or end
// within one, and an odd panel behind pairs.
TEST_F(GemmTest, LargeProductsOfAllRows) {
  Random random(8);
  constexpr size_t kTile = 64;
  for (size_t m = 4; m <= 50; ++m) {
    const size_t part = kStepInputs * (1 + random.below(15)), whole = kTile * (1 + random.below(3));
    for (const size_t k : {kTile - kStepInputs, whole, whole + part}) {
      const size_t n = round_up((1u << 16) / (m * k) + 1, 2 * kPanelColumns);
      GemmShape shape{m, n + kPanelColumns * random.below(2), k};
      shape.lhs_padding = random.below(70);
      shape.dst_padding = kPanelColumns * random.below(4);
      Problem(shape, random).expect_equal_in_all_modes();
    }
  }
}
#endif

TEST_F(GemmTest, StridesLargerThanNeeded) {
  Random random(4);
  for (size_t turn = 0; turn < 60; ++turn) {
    GemmShape shape{1 + random.below(20), kPanelColumns * (1 + random.below(9)),
                    kStepInputs * (1 + random.below(40))};
    shape.lhs_padding = random.below(70);
    shape.dst_padding = 16 * random.below(4);
    shape.flush = turn % 2 == 0 ? Flush::kBegin : Flush::kEnd;
    Problem(shape, random).expect_equal_in_all_modes();
  }
}

TEST_F(GemmTest, ModelShapes) {
  Random random(5);
  for (const GemmShape& shape :
       {GemmShape{32, 96, 384}, GemmShape{16, 384, 384}, GemmShape{8, 96, 1536},
        GemmShape{32, 128, 32}, GemmShape{32, 64, 128}, GemmShape{5, 512, 64},
        GemmShape{1, 160, 384}, GemmShape{7, 48, 508}, GemmShape{4, 16, 512}, GemmShape{6, 32, 516},
        GemmShape{3, 16, 1060}, GemmShape{31, 80, 1564}, GemmShape{24, 192, 1564},
        GemmShape{23, 32, 4212}, GemmShape{25, 272, 4224}, GemmShape{36, 16, 64},
        GemmShape{32, 48, 3072}, GemmShape{73, 48, 1060}}) {
    Problem problem(shape, random);
    problem.expect_equal_in_all_modes();
    problem.draw_any(random);
    problem.expect_equal_in_all_modes();
  }
}

// The AVX2 kernel takes steps of small inputs another way than those of large ones. Most steps here
// are of small ones, and each row has its large inputs in other steps.
TEST_F(GemmTest, FewLargeInputs) {
  Random random(7);
  std::vector<uint8_t> signed_values, unsigned_values;
  for (int i = 0; i < 60; ++i) {
    signed_values.push_back(static_cast<uint8_t>(128 - 30 + i));
    unsigned_values.push_back(static_cast<uint8_t>(i));
  }
  for (const uint8_t value : {uint8_t{0}, uint8_t{255}}) signed_values.push_back(value);
  unsigned_values.push_back(255);
  for (size_t m = 1; m <= 37; ++m) {
    const size_t n = kPanelColumns * (1 + random.below(4)),
                 k = kStepInputs * (1 + random.below(200));
    Problem problem(GemmShape{m, n, k}, random);
    problem.draw(signed_values, {-127, -126, 0, 127}, random);
    problem.expect_equal(LhsType::kSigned, true);
    problem.draw(unsigned_values, {-127, -126, 0, 127}, random);
    problem.expect_equal(LhsType::kUnsigned, true);
  }
}

// Sums of two products around the ends of 16 bits, for any offset that a kernel takes from inputs.
TEST_F(GemmTest, PairsAtTheEndsOf16Bits) {
  Random random(8);
  for (int offset = 0; offset <= 128; ++offset) {
    const std::vector<uint8_t> values = {static_cast<uint8_t>(offset),
                                         static_cast<uint8_t>(offset + 1),
                                         static_cast<uint8_t>(offset + 126),
                                         static_cast<uint8_t>(offset + 127),
                                         static_cast<uint8_t>(offset + 127),
                                         static_cast<uint8_t>(std::min(offset + 128, 255)),
                                         static_cast<uint8_t>(std::min(offset + 129, 255)),
                                         static_cast<uint8_t>(std::min(offset + 130, 255))};
    for (const int8_t weight : {int8_t{-127}, int8_t{127}}) {
      Problem problem(GemmShape{1 + random.below(12), 16, kStepInputs * (1 + random.below(30))},
                      random);
      problem.draw(values, {weight}, random);
      problem.expect_equal_in_all_modes();
    }
    Problem below(GemmShape{4, 16, 64}, random);
    below.draw({static_cast<uint8_t>(std::max(offset - 1, 0)), static_cast<uint8_t>(offset)},
               {-127, 127}, random);
    below.expect_equal_in_all_modes();
  }
}

TEST_F(GemmTest, ExtremeSums) {
  Random random(6);
  Problem problem(GemmShape{9, 112, 4224}, random);
  problem.zero_bias();
  for (const uint8_t lhs : {uint8_t{0}, uint8_t{255}}) {
    for (const int8_t weight : {int8_t{-127}, int8_t{127}}) {
      problem.fill(lhs, weight);
      problem.expect_equal_in_all_modes();
    }
  }
}

}  // namespace
}  // namespace embert
