// SPDX-License-Identifier: Apache-2.0
// The reference arithmetic: every rounding that embert makes, as a function of one element or one
// row.
//
// int8 x int8 sums in int32 are associative, so tiles, vectors and threads can not change them.
// Every operation on a sum is one of the formulas below. The scalar kernels call them; a SIMD
// kernel computes the same bits with other instructions. kernels/README.md explains the formulas
// and why nothing overflows. A suffix such as _q15 gives a number's Q format. Left shifts of signed
// values are written as multiplications, because C++17 leaves the shift undefined.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/arithmetic/tables.hpp"

namespace embert {

template <typename T>
static constexpr T clamp(T x, T lowest, T highest) {
  return x < lowest ? lowest : x > highest ? highest : x;
}
template <typename T>
static constexpr int32_t sat8(T x) {
  return static_cast<int32_t>(clamp<T>(x, -127, 127));
}
template <typename T>
static constexpr int32_t sat16(T x) {
  return static_cast<int32_t>(clamp<T>(x, -32768, 32767));
}
static constexpr int32_t sat32(int64_t x) {
  return static_cast<int32_t>(clamp<int64_t>(x, INT32_MIN, INT32_MAX));
}

/// RS(x, k) = floor(x / 2^k + 1/2): shift right, rounding half up. k in 0..62.
static constexpr int64_t shift_round(int64_t x, int32_t k) {
  return k == 0 ? x : (x + (int64_t{1} << (k - 1))) >> k;
}
/// RS in 32 bits, for processors without 64-bit shifts; k in 0..31.
static constexpr int32_t shift_round_s32(int32_t x, int32_t k) {
  return k == 0 ? x : (x >> k) + ((x >> (k - 1)) & 1);
}
/// SL(x, k) = x * 2^k, saturated. k in 0..15.
static constexpr int32_t shift_left_s32(int32_t x, int32_t k) {
  return x > INT32_MAX >> k ? INT32_MAX : x < INT32_MIN >> k ? INT32_MIN : x * (1 << k);
}

/// QMUL(a, m) = RS(a * m, 31): a times m / 2^31. Not both may be -2^31.
static constexpr int32_t multiply_q31(int32_t a, int32_t m) {
  return static_cast<int32_t>((static_cast<int64_t>(a) * m + (int64_t{1} << 30)) >> 31);
}

/// A real factor for each column c, the quotient of input scale and output scale: x ->
/// RS(QMUL(SL(x, left), multiplier[c]), right). The shifts are the tensor's; left in 0..15, right
/// in 0..31, at least one of them 0.
struct Requantize {
  const int32_t* multiplier;  ///< [n], normalised: the largest magnitude lies in [2^30, 2^31)
  int32_t left;
  int32_t right;
};
static constexpr int32_t requantize(int32_t x, int32_t multiplier, int32_t left, int32_t right) {
  return shift_round_s32(multiply_q31(shift_left_s32(x, left), multiplier), right);
}
/// Column c of a row of sums.
static inline int32_t requantize_column(const Requantize& factor, const int32_t* acc, size_t c) {
  return requantize(acc[c], factor.multiplier[c], factor.left, factor.right);
}

/// floor(log2 x), x >= 1.
static constexpr int32_t floor_log2(uint64_t x) { return 63 - __builtin_clzll(x); }

/// 1 / sqrt(d) = y * 2^(h/2 - 60) with y in [2^29, 2^30] and h even, relative error below 2^-24; d
/// in [1, 2^62). A seed from a table and two Newton iterations, y <- y (3 - x y^2) / 2, on the
/// normalised x = d * 2^h / 2^30.
struct Rsqrt {
  int32_t y_q30;
  int32_t h;
};
static inline Rsqrt rsqrt(uint64_t d) {
  const int32_t h = (61 - floor_log2(d)) & ~1;
  const uint64_t x = (d << h) >> 30;  // [2^30, 2^32)
  uint64_t y = static_cast<uint64_t>(kRsqrtSeed[(x >> 25) - 32]) << 15;
  for (int iteration = 0; iteration < 2; ++iteration) {
    const uint64_t e = (x * ((y * y) >> 30)) >> 30;
    y = (y * ((uint64_t{3} << 30) - e)) >> 31;
  }
  return {static_cast<int32_t>(y), h};
}

/// Scores are below this in magnitude. The sum of a score and the term of a relative position
/// saturates there.
static constexpr int32_t kScoreBound = 1 << 22;
static constexpr int32_t relative_score(int32_t score, int32_t product, int32_t multiplier,
                                        int32_t left, int32_t right) {
  const int64_t sum = int64_t{score} + requantize(product, multiplier, left, right);
  return static_cast<int32_t>(clamp<int64_t>(sum, 1 - kScoreBound, kScoreBound - 1));
}

/// Softmax exponential: 255 * 2^(-i/64) as an unsigned byte; 0 from i = kExpEnd on.
static constexpr uint32_t kExpEnd = 576;
static constexpr int32_t exp2_u8(uint32_t i) {
  const uint32_t n = i >> 6;
  if (n > 8) return 0;
  return static_cast<int32_t>((kExpTable[i & 63] + (64u << n)) >> (7 + n));
}
/// An exponential of 14 bits: 16320 * 2^(-i/64); i < 1024, and 0 from i = kExp14End on.
static constexpr uint32_t kExp14End = 960;
static constexpr int32_t exp2_u14(uint32_t i) {
  return shift_round_s32(kExpTable[i & 63], 1 + static_cast<int32_t>(i >> 6));
}
/// The exponent index i < 1024 of a score: distance is the row's maximum minus the score, at most
/// the attention head's cap (SoftmaxArgs::score_cap).
static constexpr uint32_t exp2_index(uint32_t distance, uint32_t score_multiplier) {
  return (distance * score_multiplier + (1u << 21)) >> 22;
}
/// The largest cap, for exponentials of 14 bits. With multipliers in 4..2^28 its index is kExp14End
/// or more, and a masked score lies beyond it.
static constexpr int32_t score_cap_u14(uint32_t score_multiplier) {
  const uint32_t cap = (UINT32_MAX - (1u << 21)) / score_multiplier;
  const uint32_t most = (1u << 30) - (1u << 22);
  return static_cast<int32_t>(cap < most ? cap : most);
}

/// 1 / sum = reciprocal * 2^(-31 - z), z = floor(log2 sum); sum in [1, 2^24).
struct Reciprocal {
  int32_t value;
  int32_t z;
};
static constexpr Reciprocal reciprocal(uint32_t sum) {
  const int32_t z = floor_log2(sum);
  const uint64_t value = (uint64_t{1} << (31 + z)) / sum;
  return {static_cast<int32_t>(value < 0x7fffffff ? value : 0x7fffffff), z};
}
/// Multiplies a whole row of probabilities by an attention head's factor in 0..32768 (Q15); 32768
/// changes nothing.
static constexpr Reciprocal scale_reciprocal(Reciprocal r, int32_t factor_q15) {
  return {static_cast<int32_t>(shift_round(int64_t{r.value} * factor_q15, 15)), r.z};
}
/// The probability exponential / sum in Q15, at most 32768.
static constexpr int32_t probability_q15(int32_t exponential, Reciprocal r) {
  return static_cast<int32_t>(shift_round(int64_t{exponential} * r.value, 16 + r.z));
}
/// (high * 256 + low) / sum in Q15, within 2.5: the products with both planes of the values, joined
/// and divided by the sum of exponentials. |high|, |low| <= 127 * sum, so the shifted operands fit
/// 32 bits.
static constexpr int32_t join_planes(int32_t high, int32_t low, Reciprocal r) {
  const int32_t scale = 1 << (23 - r.z);
  return multiply_q31(high * scale, r.value) +
         shift_round_s32(multiply_q31(low * scale, r.value), 8);
}

/// A 16-bit value as two bytes, v ~ 256 * high + low, |v| <= kValueBound. low = -128 becomes -127,
/// so that the sum of two products with 8-bit weights fits 16 bits on cores without a dot product.
static constexpr int32_t kValueBound = 32512;
static constexpr int32_t plane_high(int32_t v) { return (v + 128) >> 8; }
static constexpr int32_t plane_low(int32_t v) {
  const int32_t low = v - 256 * plane_high(v);
  return low < -127 ? -127 : low;
}

/// Dynamic quantisation of a row: x -> RS(x * 2^z * r, 22), so that the row's maximum becomes top
/// (127 or 255).
struct RowScale {
  int32_t z;
  int32_t r;
};
static constexpr RowScale row_scale(int32_t row_max, int32_t top) {
  const int32_t z = 14 - floor_log2(static_cast<uint64_t>(row_max));
  return {z, static_cast<int32_t>((static_cast<int64_t>(top) << 22) / (int64_t{row_max} << z))};
}
static constexpr int32_t quantize_row_value(int32_t x, RowScale s) {
  return static_cast<int32_t>(shift_round(int64_t{x} * (1 << s.z) * s.r, 22));
}

/// An activation function as a table of h (tables.hpp): even functions are max(x, 0) - h(|x|), the
/// odd one (tanh) is sign(x) (1 - h(|x|)). Input g and output u have the scale 2^-exponent. An
/// offset no less than any h keeps the output from being negative: u ~ f(x) + offset (1 for tanh).
/// There are four kinds: even with 0 intervals (relu, no table), 64 (gelu, gelu_new) or 256 (silu),
/// and odd with 128 (tanh).
struct Activation {
  const int16_t* nodes;  ///< [intervals + 1], h in Q14 at every 1/16; null when intervals = 0
  int32_t intervals;     ///< 0, 64, 128 or 256
  int32_t offset_q14;
  int32_t odd;       ///< 1 for tanh
  int32_t exponent;  ///< 5..12
};
static inline int32_t activate(int32_t g, const Activation& a) {
  const int32_t interval_shift = a.exponent - 4, output_shift = 14 - a.exponent;
  const int32_t magnitude = g < 0 ? -g : g, i = magnitude >> interval_shift;
  int32_t h = 0;
  if (i < a.intervals) {
    const int32_t fraction = magnitude & ((1 << interval_shift) - 1);
    h = a.nodes[i] + shift_round_s32((a.nodes[i + 1] - a.nodes[i]) * fraction, interval_shift);
  }
  int32_t u = 0;
  if (a.odd != 0) {
    u = (g >= 0 ? 2 << a.exponent : 0) + shift_round_s32(g >= 0 ? -h : h, output_shift);
  } else {
    u = (g > 0 ? g : 0) + shift_round_s32(a.offset_q14 - h, output_shift);
  }
  return u < 32767 ? u : 32767;
}

/// The constant that activate() adds to the function's value, in units of its output.
static constexpr int32_t activation_offset(const Activation& a) {
  return a.odd != 0 ? 1 << a.exponent : shift_round_s32(a.offset_q14, 14 - a.exponent);
}

/// Rotary positions (Su et al. 2021, equation 34): two channels turned by an angle, |cosine|,
/// |sine| <= 2^14 in Q14. |a|, |b| <= 32767, so a result is below 2^16.
struct Rotated {
  int32_t a, b;
};
static constexpr Rotated rotate(int32_t a, int32_t b, int32_t cosine, int32_t sine) {
  return {shift_round_s32(a * cosine - b * sine, 14), shift_round_s32(b * cosine + a * sine, 14)};
}
/// Columns i and i + half of a row of sums, in place; angles: half cosines, then half sines.
static inline void rotate_columns(const Requantize& factor, int32_t* acc, const int16_t* angles,
                                  size_t i, size_t half) {
  const Rotated turned =
      rotate(clamp<int32_t>(requantize_column(factor, acc, i), -32767, 32767),
             clamp<int32_t>(requantize_column(factor, acc, i + half), -32767, 32767), angles[i],
             angles[i + half]);
  acc[i] = turned.a;
  acc[i + half] = turned.b;
}

/// A gated value: activated in 0..32767 carries an offset in 0..32767, gate is in +-32767.
static constexpr int32_t gated_value(int32_t activated, int32_t offset, int32_t gate,
                                     int32_t shift) {
  return clamp<int32_t>(shift_round_s32((activated - offset) * gate, shift), -32767, 32767);
}

/// The embedding sum of one channel. word has 8 or 16 bits and is multiplied by multiplier / 2^16;
/// segment is the difference to segment 0.
static constexpr int32_t embedding_value(int32_t word, int32_t multiplier, int32_t position,
                                         int32_t segment) {
  return sat16(shift_round(int64_t{word} * multiplier, 16) + position + segment);
}

/// A hidden state of one channel: t * multiplier + offset, both in 2^-16.
static constexpr int32_t hidden_value(int32_t t, int32_t multiplier, int32_t offset) {
  return sat16(shift_round(int64_t{t} * multiplier + offset, 16));
}

/// The residual sum: its terms have a scale of 1/16 of the next LayerNorm's input scale.
static constexpr int32_t kResidualBound = 1 << 29;
static constexpr int32_t residual_sum(int32_t requantized, int32_t row_max, int32_t residual,
                                      int32_t residual_multiplier, int32_t constant) {
  const int32_t product =
      clamp(multiply_q31(requantized, row_max * 65536), -kResidualBound, kResidualBound);
  const int32_t carried = multiply_q31(residual * 32768, residual_multiplier);
  return sat16(shift_round_s32(product + carried + constant, 4));
}

/// LayerNorm (Ba et al. 2016, eq. 3) of n int16 values v: the numbers that a whole row shares, from
/// s1 = sum of v and s2 = sum of v^2. mean = s1 / n; epsilon_n2 = eps / scale^2 * n^2 with the
/// scale of the values.
struct LayerNormRow {
  int32_t s1;
  int32_t y_q30;
  int32_t shift;      ///< 8 - h/2 + z, in 2..8
  int32_t pre_shift;  ///< z: n v - s1 may be shifted left so far
};
static inline LayerNormRow layernorm_row(int64_t s1, int64_t s2, int64_t epsilon_n2, int32_t n) {
  const int64_t d = n * s2 - s1 * s1 + epsilon_n2;
  const Rsqrt r = rsqrt(static_cast<uint64_t>(d));
  const int32_t half_bits = n == 1 ? 0 : (floor_log2(static_cast<uint64_t>(n - 1)) + 2) / 2;
  const int32_t pre_shift = r.h / 2 > half_bits ? r.h / 2 - half_bits : 0;
  return {static_cast<int32_t>(s1), r.y_q30, 8 - r.h / 2 + pre_shift, pre_shift};
}
/// gain = round(gamma / scale * 2^shift), bias = round(beta / scale * 2^(shift - 7)) with the scale
/// of the output.
struct LayerNormAffine {
  int32_t gain, bias, shift;
};
static constexpr int32_t layernorm_value(int32_t v, int32_t n, const LayerNormRow& row,
                                         const LayerNormAffine& affine) {
  const int32_t centred = n * v - row.s1;
  const int32_t normal_q21 =
      shift_round_s32(multiply_q31(centred * (1 << row.pre_shift), row.y_q30), row.shift);
  return sat16(
      shift_round_s32(multiply_q31(normal_q21 * 8, affine.gain) + affine.bias, affine.shift - 7));
}

}  // namespace embert
