// SPDX-License-Identifier: Apache-2.0
#include "runtime/tasks/fixed_math.hpp"

#include "kernels/arithmetic/fixed_point.hpp"
#include "runtime/model/scale.hpp"

namespace embert {
namespace {

/// round(2^(31 - i/32)).
constexpr uint32_t kExp2Table[32] = {
    2147483648u, 2101467502u, 2056437387u, 2012372174u, 1969251188u, 1927054196u, 1885761398u,
    1845353420u, 1805811301u, 1767116489u, 1729250827u, 1692196547u, 1655936265u, 1620452965u,
    1585730000u, 1551751076u, 1518500250u, 1485961921u, 1454120821u, 1422962010u, 1392470869u,
    1362633090u, 1333434672u, 1304861917u, 1276901417u, 1249540052u, 1222764986u, 1196563654u,
    1170923762u, 1145833280u, 1121280436u, 1097253708u};
constexpr uint64_t kLn2Q32 = 2977044472u;
constexpr uint64_t kLog2EQ39 = 793129986396u;
constexpr uint64_t kOneQ31 = uint64_t{1} << 31;

/// 2^-f in Q31 for f in [0, 1), Q26: the table takes 5 bits, the series of e^-x the other 21.
uint64_t exp2_fraction_q31(uint32_t f_q26) {
  const uint64_t x = ((f_q26 & 0x1fffff) * kLn2Q32) >> 27;  // Q31, below 0.0217
  uint64_t series = kOneQ31 - (x >> 2);
  series = kOneQ31 - ((x / 3 * series) >> 31);
  series = kOneQ31 - (((x >> 1) * series) >> 31);
  series = kOneQ31 - ((x * series + (kOneQ31 >> 1)) >> 31);
  return (kExp2Table[f_q26 >> 21] * series + (kOneQ31 >> 1)) >> 31;
}

}  // namespace

bool make_logit_ratio(embert_scale scale, LogitRatio* ratio) {
  if (!scale_ok(scale.float_bits)) return false;
  const uint32_t exponent = scale.float_bits >> 23;
  const uint64_t significand = (scale.float_bits & 0x7fffff) | 0x800000;
  // scale = significand * 2^(exponent - 150); the product lies in [2^62, 2^64).
  const uint64_t product = significand * kLog2EQ39;
  const int32_t excess = floor_log2(product) - 31;
  ratio->mantissa = static_cast<uint32_t>(product >> excess);
  ratio->shift = 150 + 39 - 26 - static_cast<int32_t>(exponent) - excess;
  return true;
}

uint64_t octaves_q26(uint32_t distance, LogitRatio ratio) {
  const uint64_t product = uint64_t{distance} * ratio.mantissa;
  if (product == 0 || ratio.shift > 64) return 0;
  if (floor_log2(product) - ratio.shift >= 40) return kMaxOctaves;
  if (ratio.shift <= 0) return product << -ratio.shift;
  return ((product >> (ratio.shift - 1)) + 1) >> 1;
}

uint64_t times_exp2(uint64_t value, uint64_t octaves) {
  const uint64_t whole = octaves >> 26;
  if (whole > 63) return 0;
  const uint64_t m = exp2_fraction_q31(static_cast<uint32_t>(octaves & 0x3ffffff));
  const uint64_t product = (((value >> 32) * m) << 1) + (((value & 0xffffffff) * m) >> 31);
  return whole == 0 ? product : ((product >> (whole - 1)) + 1) >> 1;
}

uint64_t log2_q26(uint64_t x) {
  const int32_t whole = floor_log2(x);
  // Squaring a number in [1, 2) doubles its logarithm. The next bit of the logarithm is then its
  // integer part.
  uint64_t y = whole >= 31 ? x >> (whole - 31) : x << (31 - whole);  // Q31
  uint64_t result = static_cast<uint64_t>(whole);
  for (int32_t bit = 0; bit < 27; ++bit) {
    y = (y * y) >> 31;
    result <<= 1;
    if (y >= 2 * kOneQ31) {
      result |= 1;
      y >>= 1;
    }
  }
  return (result + 1) >> 1;
}

}  // namespace embert
