// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the operations, which compare every variant that this machine can run with
// the scalar kernel: guarded buffers whose unused bytes must keep their canary, draws of operands,
// and plain formulas.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <vector>

#include "tests/kernels/kernel_variants.hpp"
#include "tests/support/random.hpp"
#include "tests/support/system/guarded_buffer.hpp"

namespace embert {

/// A guarded buffer full of canaries. One in four begins at the lower guard page, the others end at
/// the upper one.
template <typename T>
class Guarded : public GuardedBuffer<T> {
 public:
  explicit Guarded(size_t count, size_t alignment = alignof(T))
      : GuardedBuffer<T>(count, alignment, next_flush()) {
    if (count > 0) memset(bytes(), GuardedBytes::kCanary, count * sizeof(T));
  }
  void copy_from(const Guarded& other) { memcpy(bytes(), other.bytes(), other.size() * sizeof(T)); }
  /// The same contents, row padding included, and no byte beside them changed.
  bool same_as(const Guarded& other) const {
    return this->surroundings_intact() && this->size() == other.size() &&
           memcmp(bytes(), other.bytes(), this->size() * sizeof(T)) == 0;
  }

 private:
  void* bytes() const { return this->data(); }
  static Flush next_flush() {
    static unsigned turn = 0;
    return ++turn % 4 == 0 ? Flush::kBegin : Flush::kEnd;
  }
};

/// Draws of single numbers, with a bias to the edges.
class Draws : public Random {
 public:
  using Random::Random;

  /// In lowest..highest: mostly even, sometimes an end, zero or a small magnitude.
  int64_t in(int64_t lowest, int64_t highest) {
    const size_t kind = below(16);
    if (kind == 0) return lowest;
    if (kind == 1) return highest;
    if (kind == 2 && lowest <= 0 && highest >= 0) return 0;
    const int64_t x = uniform(lowest, highest);
    return kind < 10 ? clamp(x / (int64_t{1} << below(32)), lowest, highest) : x;
  }
  int32_t in32(int64_t lowest, int64_t highest) {
    return static_cast<int32_t>(in(lowest, highest));
  }
  int16_t in16(int64_t lowest, int64_t highest) {
    return static_cast<int16_t>(in(lowest, highest));
  }
};

/// Column counts around every tail, then real ones.
inline std::vector<size_t> tail_sizes() {
  std::vector<size_t> sizes;
  for (size_t n = 1; n <= 70; ++n) sizes.push_back(n);
  for (const size_t n : std::initializer_list<size_t>{96, 127, 128, 129, 384, 1537}) {
    sizes.push_back(n);
  }
  return sizes;
}

/// Multipliers of a tensor: half of them normalised, the others of any size and sign.
inline void fill_multipliers(Draws& draws, int32_t* m, size_t n) {
  for (size_t c = 0; c < n; ++c) {
    m[c] = draws.below(2) != 0 ? draws.in32(1 << 30, INT32_MAX) : draws.in32(-INT32_MAX, INT32_MAX);
  }
}
inline void fill_accumulators(Draws& draws, int32_t* acc, size_t count) {
  const bool extreme = draws.below(2) != 0;
  for (size_t i = 0; i < count; ++i) {
    acc[i] = extreme ? draws.in32(INT32_MIN, INT32_MAX) : draws.in32(-2000000, 2000000);
  }
}
/// All pairs of shifts that Requantize allows, one a turn: left 0..15 or right 1..31.
inline void set_shifts(size_t turn, Requantize* factor) {
  const int32_t t = static_cast<int32_t>(turn % 47);
  factor->left = t < 16 ? t : 0;
  factor->right = t < 16 ? 0 : t - 15;
}

/// The operands that a residual sum has beside its accumulators.
struct ResidualOperands {
  Guarded<int32_t> multiplier, residual_multiplier, constant;  ///< [pad_columns(n)]
  Guarded<int32_t> row_max;                                    ///< [m]
  Guarded<int16_t> residual;

  ResidualOperands(Draws& draws, size_t m, size_t n, size_t residual_size)
      : multiplier(pad_columns(n)),
        residual_multiplier(pad_columns(n)),
        constant(pad_columns(n)),
        row_max(m),
        residual(residual_size) {
    fill_multipliers(draws, multiplier.data(), multiplier.size());
    for (size_t c = 0; c < constant.size(); ++c) {
      residual_multiplier[c] = draws.in32(-(1 << 29) + 1, (1 << 29) - 1);
      constant[c] = draws.in32(-(1 << 28) + (1 << 19), (1 << 28) - (1 << 19));
    }
    for (size_t i = 0; i < m; ++i) row_max[i] = draws.in32(1, 32767);
    for (size_t i = 0; i < residual_size; ++i) residual[i] = draws.in16(-32768, 32767);
  }

  void give_to(RequantizeResidualArgs* args) const {
    args->factor.multiplier = multiplier.data();
    args->row_max = row_max.data();
    args->residual = residual.data();
    args->residual_multiplier = residual_multiplier.data();
    args->constant = constant.data();
  }
};

/// Runs the scalar kernel, the first variant, into `expected`, and every other one into a buffer of
/// its own, which must get the same bytes. For operations with one output.
template <typename Fn, typename Args, typename T>
void expect_equals_scalar(const std::vector<KernelVariant<Fn>>& variants, Args args,
                          Guarded<T>* expected) {
  args.dst = expected->data();
  variants[0].function(args);
  for (size_t v = 1; v < variants.size(); ++v) {
    Guarded<T> actual(expected->size());
    args.dst = actual.data();
    variants[v].function(args);
    ASSERT_TRUE(actual.same_as(*expected))
        << variants[v].name << " m " << args.m << " n " << args.n << " left " << args.factor.left
        << " right " << args.factor.right;
  }
}

/// Shapes of one call on accumulators, with row strides that may be larger than needed.
struct RowShape {
  size_t m, n, acc_stride, dst_stride;
};
inline std::vector<RowShape> row_shapes(Draws& draws) {
  std::vector<RowShape> all;
  for (size_t n : tail_sizes()) {
    for (size_t m : {size_t{1}, 2 + draws.below(8), size_t{32}}) {
      if (m == 32 && n > 70 && n != 384) continue;
      const size_t acc_stride = pad_columns(n) + 16 * draws.below(2);
      all.push_back({m, n, acc_stride, pad_inputs(n) + draws.below(5)});
    }
  }
  return all;
}
/// Elements of m rows of n.
inline size_t extent(size_t m, size_t stride, size_t n) { return (m - 1) * stride + n; }

/// One row of n values in lowest..highest: constant, one-hot, alternating extremes, tiny or random.
inline void fill_row(Draws& draws, int16_t* row, size_t n, int32_t lowest, int32_t highest) {
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

/// The value that a GEMM gives a byte of a left operand, its correction included.
inline int32_t lhs_value(uint8_t byte, LhsType type) {
  return (EMBERT_X86 ? int32_t{byte} : static_cast<int8_t>(byte)) + lhs_correction(type);
}

/// floor(x / 2^k + 1/2), by division.
inline int64_t plain_shift_round(int64_t x, int32_t k) {
  const int64_t divisor = int64_t{1} << k;
  int64_t quotient = x / divisor, rest = x % divisor;
  if (rest < 0) --quotient, rest += divisor;
  return 2 * rest >= divisor ? quotient + 1 : quotient;
}
/// requantize() in exact arithmetic, with its two roundings.
inline int64_t plain_requantize(int32_t x, const Requantize& factor, size_t c) {
  const int64_t shifted = clamp<int64_t>(int64_t{x} * (1 << factor.left), INT32_MIN, INT32_MAX);
  return plain_shift_round(plain_shift_round(shifted * factor.multiplier[c], 31), factor.right);
}

inline int16_t plain_sat16(int64_t x) {
  return static_cast<int16_t>(clamp<int64_t>(x, -32768, 32767));
}

}  // namespace embert
