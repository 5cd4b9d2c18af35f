// SPDX-License-Identifier: Apache-2.0
// Vectors made smaller and compared, against double.
#include <gtest/gtest.h>

#include <algorithm>

#include "embert/embert.h"
#include "embert/embert_vector.h"
#include "tests/runtime/tasks/task_numbers.hpp"
#include "tests/support/random.hpp"

namespace embert::test {
namespace {

class Vectors : public SeededTest {
 protected:
  Random random_{1};

  std::vector<std::int16_t> vector(std::size_t n, int shift) {
    std::vector<std::int16_t> v(n);
    random_.fill(v.data(), n, -32768 >> shift, 32767 >> shift, Random::kUniform);
    return v;
  }
};

template <typename T>
long double exact_cosine(const std::vector<T>& a, const std::vector<T>& b) {
  long double ab = 0, aa = 0, bb = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    ab += static_cast<long double>(a[c]) * b[c];
    aa += static_cast<long double>(a[c]) * a[c];
    bb += static_cast<long double>(b[c]) * b[c];
  }
  return aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

constexpr double kUnit = 1.0 / 1073741824.0;

TEST_F(Vectors, CosinesAreWithinTheirError) {
  for (int i = 0; i < 2000; ++i) {
    const std::size_t n = 1 + random_.below(i < 1000 ? 8 : 800);
    const int shift = static_cast<int>(random_.below(16));
    std::vector<std::int16_t> a = vector(n, shift),
                              b = vector(n, static_cast<int>(random_.below(16)));
    if (i % 3 == 0) b = a;
    if (i % 5 == 0) std::replace(b.begin(), b.end(), std::int16_t{0}, std::int16_t{1});
    std::int32_t cosine = 7;
    ASSERT_EQ(embert_cosine_int16(a.data(), b.data(), n, &cosine), EMBERT_STATUS_OK);
    EXPECT_NEAR(cosine * kUnit, static_cast<double>(exact_cosine(a, b)), 3e-7);

    std::vector<std::int8_t> a8(n), b8(n);
    ASSERT_EQ(embert_quantize_int8(a.data(), n, a8.data()), EMBERT_STATUS_OK);
    ASSERT_EQ(embert_quantize_int8(b.data(), n, b8.data()), EMBERT_STATUS_OK);
    ASSERT_EQ(embert_cosine_int8(a8.data(), b8.data(), n, &cosine), EMBERT_STATUS_OK);
    EXPECT_NEAR(cosine * kUnit, static_cast<double>(exact_cosine(a8, b8)), 3e-7);
  }
}

TEST_F(Vectors, CosinesAtTheEnds) {
  const std::vector<std::int16_t> most(100000, -32768), one = {1}, minus_one = {-1}, zero = {0};
  std::int32_t cosine = 0;
  ASSERT_EQ(embert_cosine_int16(most.data(), most.data(), most.size(), &cosine), EMBERT_STATUS_OK);
  EXPECT_NEAR(cosine * kUnit, 1.0, 3e-7);
  EXPECT_LE(cosine, 1 << 30);
  ASSERT_EQ(embert_cosine_int16(one.data(), minus_one.data(), 1, &cosine), EMBERT_STATUS_OK);
  EXPECT_NEAR(cosine * kUnit, -1.0, 3e-7);
  ASSERT_EQ(embert_cosine_int16(one.data(), zero.data(), 1, &cosine), EMBERT_STATUS_OK);
  EXPECT_EQ(cosine, 0);
  ASSERT_EQ(embert_cosine_int16(zero.data(), zero.data(), 1, &cosine), EMBERT_STATUS_OK);
  EXPECT_EQ(cosine, 0);
}

TEST_F(Vectors, NormalizedAndTruncated) {
  const std::vector<std::int16_t> v = vector(384, 3);
  for (const std::size_t n : {1u, 64u, 128u, 384u}) {
    long double squares = 0;
    for (std::size_t c = 0; c < n; ++c) squares += static_cast<long double>(v[c]) * v[c];
    std::vector<std::int16_t> unit(n);
    ASSERT_EQ(embert_normalize_int16(v.data(), n, unit.data()), EMBERT_STATUS_OK);
    for (std::size_t c = 0; c < n; ++c) {
      const long double exact = std::min(32767.0L, v[c] / std::sqrt(squares) * 32768);
      EXPECT_NEAR(static_cast<double>(unit[c]), static_cast<double>(exact), 1.0);
    }
    std::vector<std::int16_t> in_place(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n));
    ASSERT_EQ(embert_normalize_int16(in_place.data(), n, in_place.data()), EMBERT_STATUS_OK);
    EXPECT_EQ(in_place, unit);
  }
  std::vector<std::int16_t> zero(3), unit(3, 9);
  ASSERT_EQ(embert_normalize_int16(zero.data(), 3, unit.data()), EMBERT_STATUS_OK);
  EXPECT_EQ(unit, zero);
}

TEST_F(Vectors, BytesAreRoundedToTheNearest) {
  for (int i = 0; i < 500; ++i) {
    const std::vector<std::int16_t> v =
        vector(1 + random_.below(50), static_cast<int>(random_.below(16)));
    std::vector<std::int8_t> bytes(v.size());
    ASSERT_EQ(embert_quantize_int8(v.data(), v.size(), bytes.data()), EMBERT_STATUS_OK);
    int largest = 1;
    for (const int value : v) largest = std::max(largest, std::abs(value));
    for (std::size_t c = 0; c < v.size(); ++c)
      EXPECT_EQ(bytes[c], std::lround(v[c] * 127.0 / largest));
  }
  const std::int16_t ends[] = {-32768, 32767, 0}, zero[] = {0, 0, 0};
  std::int8_t bytes[3];
  ASSERT_EQ(embert_quantize_int8(ends, 3, bytes), EMBERT_STATUS_OK);
  EXPECT_EQ(std::vector<int>(bytes, bytes + 3), (std::vector<int>{-127, 127, 0}));
  ASSERT_EQ(embert_quantize_int8(zero, 3, bytes), EMBERT_STATUS_OK);
  EXPECT_EQ(std::vector<int>(bytes, bytes + 3), (std::vector<int>{0, 0, 0}));
}

TEST_F(Vectors, BitsOfSigns) {
  const std::int16_t v[] = {1, -1, 0, 5, -5, 0, 7, 32767, -32768, 1, 1};
  std::uint8_t bits[2] = {0xFF, 0xFF};
  ASSERT_EQ(embert_quantize_bits(v, 11, bits), EMBERT_STATUS_OK);
  EXPECT_EQ(bits[0], 0b10010011);
  EXPECT_EQ(bits[1], 0b01100000);
}

TEST_F(Vectors, HammingOfTheFirstBits) {
  const std::uint8_t a[] = {0b10110000, 0xFF}, b[] = {0b10011111, 0x00};
  const std::uint32_t differences[] = {0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
  for (std::size_t n = 1; n <= 16; ++n) {
    std::uint32_t distance = 99;
    ASSERT_EQ(embert_hamming(a, b, n, &distance), EMBERT_STATUS_OK);
    EXPECT_EQ(distance, differences[n - 1]) << n;
  }
}

TEST_F(Vectors, BadArguments) {
  const std::int16_t v[2] = {1, 2};
  const std::int8_t v8[2] = {1, 2};
  const std::uint8_t bits[1] = {1};
  std::int16_t unit[2];
  std::int8_t bytes[2];
  std::uint8_t out[1];
  std::int32_t cosine;
  std::uint32_t distance;
  EXPECT_EQ(embert_normalize_int16(nullptr, 2, unit), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_normalize_int16(v, 2, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_normalize_int16(v, 0, unit), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(embert_quantize_int8(nullptr, 2, bytes), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_quantize_int8(v, 2, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_quantize_int8(v, 0, bytes), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(embert_quantize_bits(nullptr, 2, out), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_quantize_bits(v, 2, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_quantize_bits(v, 0, out), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(embert_cosine_int16(nullptr, v, 2, &cosine), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_cosine_int16(v, nullptr, 2, &cosine), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_cosine_int16(v, v, 2, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_cosine_int16(v, v, 0, &cosine), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(embert_cosine_int8(nullptr, v8, 2, &cosine), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_cosine_int8(v8, nullptr, 2, &cosine), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_cosine_int8(v8, v8, 2, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_cosine_int8(v8, v8, 0, &cosine), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(embert_hamming(nullptr, bits, 2, &distance), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_hamming(bits, nullptr, 2, &distance), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_hamming(bits, bits, 2, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_hamming(bits, bits, 0, &distance), EMBERT_STATUS_EMPTY_INPUT);
  if constexpr (sizeof(std::size_t) > 4) {
    const std::size_t too_many = (std::size_t{1} << 31) + 1;
    EXPECT_EQ(embert_normalize_int16(v, too_many, unit), EMBERT_STATUS_INVALID_OPTION);
    EXPECT_EQ(embert_cosine_int8(v8, v8, too_many, &cosine), EMBERT_STATUS_INVALID_OPTION);
    EXPECT_EQ(embert_hamming(bits, bits, too_many, &distance), EMBERT_STATUS_INVALID_OPTION);
  }
}

}  // namespace
}  // namespace embert::test
