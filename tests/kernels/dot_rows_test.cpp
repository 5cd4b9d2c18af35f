// SPDX-License-Identifier: Apache-2.0
// Products with a row-major table: every variant against the plain sum, for every column count,
// with rows and table of any alignment between guard pages.
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

struct Shape {
  size_t m, n, k, lhs_stride, rhs_stride, dst_stride;
};

class DotRowsTest : public SeededTest {
 protected:
  // Every variant, scalar included, on these operands.
  void expect_sums(const Shape& s, const Guarded<int8_t>& lhs, const Guarded<int8_t>& rhs) {
    Guarded<int32_t> expected((s.m - 1) * s.dst_stride + s.n);
    for (size_t i = 0; i < s.m; ++i) {
      for (size_t j = 0; j < s.n; ++j) {
        int64_t sum = 0;
        for (size_t c = 0; c < s.k; ++c) {
          sum += int64_t{lhs[i * s.lhs_stride + c]} * rhs[j * s.rhs_stride + c];
        }
        expected[i * s.dst_stride + j] = static_cast<int32_t>(sum);
      }
    }
    for (const auto& variant : variants_) {
      Guarded<int32_t> actual(expected.size());
      variant.function({.m = s.m,
                        .n = s.n,
                        .k = s.k,
                        .lhs = lhs.data(),
                        .lhs_stride = s.lhs_stride,
                        .rhs = rhs.data(),
                        .rhs_stride = s.rhs_stride,
                        .dst = actual.data(),
                        .dst_stride = s.dst_stride});
      ASSERT_TRUE(actual.same_as(expected))
          << variant.name << " m " << s.m << " n " << s.n << " k " << s.k;
    }
  }
  void expect_sums_of_random(size_t m, size_t n, size_t k) {
    const Shape s = {.m = m,
                     .n = n,
                     .k = k,
                     .lhs_stride = k + draws_.below(9),
                     .rhs_stride = k + (draws_.below(2) == 0 ? 0 : draws_.below(70)),
                     .dst_stride = n + draws_.below(5)};
    Guarded<int8_t> lhs((m - 1) * s.lhs_stride + k), rhs((n - 1) * s.rhs_stride + k);
    for (int8_t& x : lhs) x = static_cast<int8_t>(draws_.in(-128, 127));
    for (int8_t& x : rhs) x = static_cast<int8_t>(draws_.in(-128, 127));
    expect_sums(s, lhs, rhs);
  }

  const std::vector<KernelVariant<DotRowsFn>> variants_ = variants_of(&Kernels::dot_rows);
  Draws draws_{51};
};

TEST_F(DotRowsTest, EveryColumnCount) {
  for (size_t k = 1; k <= 200; ++k) {
    for (size_t m = 1; m <= 9; ++m) {
      expect_sums_of_random(m, 1 + draws_.below(14), k);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(DotRowsTest, EveryTableLength) {
  for (size_t n = 1; n <= 70; ++n) {
    for (size_t m = 1; m <= 5; ++m) {
      expect_sums_of_random(m, n, 1 + draws_.below(130));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(DotRowsTest, ModelShapes) {
  for (const size_t k : {size_t{312}, size_t{384}, size_t{768}, size_t{1024}, size_t{4096}}) {
    for (const size_t m : {size_t{2}, size_t{6}}) {
      expect_sums_of_random(m, 130, k);
      if (HasFatalFailure()) return;
    }
  }
}

// The largest sums of all, of every sign.
TEST_F(DotRowsTest, ExtremeSums) {
  const Shape s = {
      .m = 3, .n = 6, .k = 4096, .lhs_stride = 4096, .rhs_stride = 4096, .dst_stride = 6};
  for (const int8_t x : {int8_t{-128}, int8_t{127}}) {
    for (const int8_t w : {int8_t{-128}, int8_t{127}}) {
      Guarded<int8_t> lhs(s.m * s.k), rhs(s.n * s.k);
      memset(lhs.data(), x, lhs.size());
      memset(rhs.data(), w, rhs.size());
      expect_sums(s, lhs, rhs);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace embert
