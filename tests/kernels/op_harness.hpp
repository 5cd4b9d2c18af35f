// SPDX-License-Identifier: Apache-2.0
// What the tests of the operations share: every compiled variant that this machine can run against
// the scalar law, on guarded buffers whose unused bytes must keep their canary.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <vector>

#include "tests/support/random.hpp"
#include "tests/support/system/guarded_buffer.hpp"
#include "tests/support/system/isa.hpp"

namespace embert {

/// A guarded buffer full of canaries. One in four lies against the lower guard page.
template <typename T>
class Guarded : public GuardedBuffer<T> {
 public:
  explicit Guarded(size_t count, size_t alignment = alignof(T))
      : GuardedBuffer<T>(count, alignment, next_flush()) {
    if (count > 0) memset(bytes(), GuardedBytes::kCanary, count * sizeof(T));
  }
  void copy_from(const Guarded& other) { memcpy(bytes(), other.bytes(), other.size() * sizeof(T)); }
  /// Same contents, row padding included, and nothing beside them changed.
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

/// Edge-biased draws of single numbers.
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

/// All variants of an operation that run here, the scalar one first.
template <typename Fn>
std::vector<KernelVariant<Fn>> variants_of() {
  std::vector<KernelVariant<Fn>> found;
#define EMBERT_KERNEL(operation, type_name, function, isa)                                   \
  if constexpr (std::is_same_v<type_name, Fn> && static_cast<uint32_t>(isa) == kIsaScalar) { \
    found.push_back({#function, function, isa});                                             \
  }
#include "kernels/variants.inc"
#undef EMBERT_KERNEL
  for_each_variant<Fn>([&](const KernelVariant<Fn>& variant) { found.push_back(variant); });
  return found;
}

/// Column counts around every tail, then real ones.
inline std::vector<size_t> tail_sizes() {
  std::vector<size_t> sizes;
  for (size_t n = 1; n <= 70; ++n) sizes.push_back(n);
  for (const size_t n : std::initializer_list<size_t>{96, 127, 128, 129, 384, 1537}) {
    sizes.push_back(n);
  }
  return sizes;
}

/// Multipliers of a tensor: normalised, with some small, negative and extreme ones.
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
/// Every shift of the law as calls go by: left 0..15, right 1..31.
inline void set_shifts(size_t turn, Requantize* factor) {
  const int32_t t = static_cast<int32_t>(turn % 47);
  factor->left = t < 16 ? t : 0;
  factor->right = t < 16 ? 0 : t - 15;
}

/// floor(x / 2^k + 1/2), by division.
inline int64_t plain_shift_round(int64_t x, int32_t k) {
  const int64_t divisor = int64_t{1} << k;
  int64_t quotient = x / divisor, rest = x % divisor;
  if (rest < 0) --quotient, rest += divisor;
  return 2 * rest >= divisor ? quotient + 1 : quotient;
}
/// The requantisation in exact arithmetic, with the law's two roundings.
inline int64_t plain_requantize(int32_t x, const Requantize& factor, size_t c) {
  const int64_t shifted = clamp<int64_t>(int64_t{x} * (1 << factor.left), INT32_MIN, INT32_MAX);
  return plain_shift_round(plain_shift_round(shifted * factor.multiplier[c], 31), factor.right);
}

}  // namespace embert
