// SPDX-License-Identifier: Apache-2.0
// Elementary functions from additions, multiplications, divisions and moves of bits alone, each of
// which IEEE 754 rounds in one way. The C library's functions differ by a unit between processors
// and versions, and so would the blob. Loops over them vectorise: they have no branches. Errors are
// measured by tests/converter/arithmetic/elementary_test.cpp.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace embert::convert::ieee {

namespace detail {

/// a[kFirst] + a[kFirst + 2] square + ... by Horner's rule; no loop, so that compilers vectorise
/// the loop around it.
template <std::size_t kFirst, std::size_t kCount, std::size_t... kIndex>
inline double every_second(const double (&a)[kCount], double square,
                           std::index_sequence<kIndex...>) {
  constexpr std::size_t kLast = kFirst + 2 * sizeof...(kIndex);
  double sum = a[kLast];
  ((sum = sum * square + a[kLast - 2 - 2 * kIndex]), ...);
  return sum;
}
/// a[0] + a[1] x + ... in two chains, for even and odd powers: half as long to wait for.
template <std::size_t kCount>
inline double polynomial(const double (&a)[kCount], double x) {
  const double square = x * x;
  return every_second<0>(a, square, std::make_index_sequence<(kCount - 1) / 2>()) +
         x * every_second<1>(a, square, std::make_index_sequence<kCount / 2 - 1>());
}

/// x in -bound..bound; what is not a number stays so.
inline double within(double x, double bound) {
  const double magnitude = std::fabs(x);
  return std::copysign(magnitude > bound ? bound : magnitude, x);
}

/// Adding it rounds |x| < 2^51 to an integer, which then stands in the low bits.
inline constexpr double kRound = 0x1.8p52;

}  // namespace detail

/// e^x within 2 units of double (2^-52); -708 and 708 stand for all x beyond them.
inline double exp(double x) {
  constexpr double kLog2E = 0x1.71547652b82fep0;
  constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  // 1 / n!: the next term is below 2^-57 for |r| <= ln(2) / 2.
  constexpr double kTaylor[] = {1.0,
                                1.0,
                                1.0 / 2,
                                1.0 / 6,
                                1.0 / 24,
                                1.0 / 120,
                                1.0 / 720,
                                1.0 / 5040,
                                1.0 / 40320,
                                1.0 / 362880,
                                1.0 / 3628800,
                                1.0 / 39916800,
                                1.0 / 479001600,
                                1.0 / 6227020800};
  x = detail::within(x, 708);
  const double shifted = x * kLog2E + detail::kRound;
  const double k = shifted - detail::kRound;
  const double r = (x - k * kLn2High) - k * kLn2Low;
  const std::uint64_t power = (std::bit_cast<std::uint64_t>(shifted) + 1023) << 52;  // 2^k
  return detail::polynomial(kTaylor, r) * std::bit_cast<double>(power);
}

/// Natural logarithm within 2 units of double, of a normal number x > 0. With x = 2^e m and
/// s = (m - 1) / (m + 1) it is e ln 2 + 2 (s + s^3 / 3 + s^5 / 5 + ...).
inline double log(double x) {
  constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  constexpr double kSeries[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // in [1/2, 1)
  if (m < 0x1.6a09e667f3bcdp-1) {       // sqrt(1/2)
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1), square = s * s;
  const double fraction = 2 * s + s * square * detail::polynomial(kSeries, square);
  return exponent * kLn2High + (exponent * kLn2Low + fraction);
}

/// x^y for x as log() takes it; the relative error is about |y log x| units of double.
inline double pow(double x, double y) { return exp(y * log(x)); }

/// tanh within 1e-11 of its value.
inline double tanh(double x) {
  const double magnitude = std::fabs(x), e = exp(-2 * magnitude);
  const double near = magnitude - magnitude * magnitude * magnitude / 3;
  return std::copysign(magnitude < 1e-4 ? near : (1 - e) / (1 + e), x);
}

/// erf within 1e-14 of its value for |x| <= 4, and erf(4) = 1 - 1.5e-8 beyond: float32 can not tell
/// this from 1.
inline double erf(double x) {
  // erf(x) / x in t = x^2 / 8 - 1, interpolated in the 25 zeros of the Chebyshev polynomial T_25
  // with 60 digits, then rounded.
  constexpr double kErf[] = {
      0x1.6a040781a499cp-2,  -0x1.69a0ccda3d64cp-3,  0x1.0dabaf0613ba3p-3,  -0x1.b92e95c2082efp-4,
      0x1.717efc7866622p-4,  -0x1.3215d8a93e637p-4,  0x1.ea97f1435b3b1p-5,  -0x1.76e8662b934a6p-5,
      0x1.0ed52c746d5a7p-5,  -0x1.7034e0d4c07fbp-6,  0x1.d6351b2a68c30p-7,  -0x1.1a03324524eb7p-7,
      0x1.3e159e4055495p-8,  -0x1.51e22dc762af1p-9,  0x1.52d2a857d3684p-10, -0x1.41c98e7223066p-11,
      0x1.212a99410147fp-12, -0x1.e8ca45225386bp-14, 0x1.8e920ca09e5a6p-15, -0x1.495c9865bc3cep-16,
      0x1.e1ce46763b7c1p-18, -0x1.df21589961445p-20, 0x1.597abb52dd5a5p-21, -0x1.05d62bdd9912dp-21,
      0x1.3bcedf8176ef3p-23};
  x = detail::within(x, 4);
  return x * detail::polynomial(kErf, x * x * 0.125 - 1);
}

namespace detail {

/// sin(x + quarters pi / 2) within 1e-15 for |x| <= 2^19.
inline double sine(double x, std::uint64_t quarters) {
  constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  // pi / 2 in two parts of 33 bits, of which k is a multiple without error, and the rest.
  constexpr double kHigh = 0x1.921fb544p0, kMiddle = 0x1.0b4611a6p-34, kLow = 0x1.3198a2e037073p-69;
  // (-1)^n / (2 n + 1)! and (-1)^n / (2 n)!: the next terms are below 2^-57 for |r| <= pi / 4.
  constexpr double kSine[] = {1.0,
                              -1.0 / 6,
                              1.0 / 120,
                              -1.0 / 5040,
                              1.0 / 362880,
                              -1.0 / 39916800,
                              1.0 / 6227020800,
                              -1.0 / 1307674368000,
                              1.0 / 355687428096000};
  constexpr double kCosine[] = {1.0,
                                -1.0 / 2,
                                1.0 / 24,
                                -1.0 / 720,
                                1.0 / 40320,
                                -1.0 / 3628800,
                                1.0 / 479001600,
                                -1.0 / 87178291200,
                                1.0 / 20922789888000,
                                -1.0 / 6402373705728000};
  const double shifted = x * kTwoOverPi + kRound, k = shifted - kRound;
  const double r = ((x - k * kHigh) - k * kMiddle) - k * kLow, square = r * r;
  const std::uint64_t turn = std::bit_cast<std::uint64_t>(shifted) + quarters;
  const double value = turn % 2 == 0 ? r * polynomial(kSine, square) : polynomial(kCosine, square);
  return turn % 4 < 2 ? value : -value;
}

}  // namespace detail

/// Within 1e-15 for |x| <= 2^19.
inline double sin(double x) { return detail::sine(x, 0); }
inline double cos(double x) { return detail::sine(x, 1); }

}  // namespace embert::convert::ieee
