// SPDX-License-Identifier: Apache-2.0
// Softmax with exponentials of 8 and of 14 bits, which are two planes, against the scalar kernel:
// every key count to 513, small and large caps, in place or not, with masked scores and without.
// Probabilities against their exact quotients.
#include <algorithm>
#include <cstdlib>

#include "kernels/arithmetic/pack.hpp"
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using SoftmaxTest = SeededTest;
using AttentionProbabilitiesTest = SeededTest;

// Both operations: the planes of an exponential, and that of a row's maximum.
struct Operation {
  size_t planes;
  int32_t top;

  std::vector<KernelVariant<SoftmaxFn>> variants() const {
    return planes == 1 ? variants_of(&Kernels::softmax) : variants_of(&Kernels::softmax_u8x2);
  }
  // The exponential of a key, from the row of its first plane.
  int32_t at(const uint8_t* row, size_t stride, size_t key) const {
    int32_t e = 0;
    for (size_t p = 0; p < planes; ++p) e = 256 * e + (row[p * stride + key] ^ kUnsignedLhsFlip);
    return e;
  }
};
constexpr Operation kOperations[] = {{1, 255}, {2, 16320}};

// Any multiplier, with the cap that the converter would choose or any other that the contract
// allows.
void draw_head(Draws& draws, SoftmaxArgs* args) {
  const uint64_t bits = 1 + draws.below(32);
  uint64_t multiplier = draws.next() & ((uint64_t{1} << bits) - 1);
  if (multiplier == 0) multiplier = 1;
  if (multiplier > (uint64_t{1} << 31)) multiplier = uint64_t{1} << 31;
  const uint64_t largest = ((uint64_t{1} << 32) - 1 - (1 << 21)) / multiplier;
  const uint64_t usual = (uint64_t{1153} << 21) / multiplier;
  const uint64_t cap = draws.below(4) == 0   ? largest
                       : draws.below(8) == 0 ? draws.next() % (largest + 1)
                                             : usual;
  args->score_multiplier = static_cast<uint32_t>(multiplier);
  args->score_cap = static_cast<int32_t>(cap > INT32_MAX ? INT32_MAX : cap);
}

// Masks some, all but one, or all keys of a row.
void mask_row(Draws& draws, int32_t* scores, size_t n) {
  const size_t kind = draws.below(3), left = draws.below(n);
  for (size_t j = 0; j < n; ++j) {
    if (kind == 0 ? draws.below(2) == 0 : kind == 1 ? j != left : true) scores[j] = kMaskedScore;
  }
}

void expect_scalar_bits(Draws& draws, const Operation& operation) {
  const auto variants = operation.variants();
  ASSERT_FALSE(variants.empty());
  const size_t planes = operation.planes;
  for (int repeat = 0; repeat < 24; ++repeat) {
    for (size_t n = 1; n <= 513; ++n) {
      const size_t m = 1 + draws.below(3), stride = pad_columns(n) + 16 * draws.below(2);
      Guarded<int32_t> scores((m - 1) * stride + pad_columns(n), 64);
      const size_t dst_stride = planes == 1 ? 4 * stride : pad_inputs(n) + draws.below(5);
      Guarded<uint8_t> expected((planes * m - 1) * dst_stride + pad_inputs(n));
      Guarded<Reciprocal> expected_row(m);
      const int64_t bound = (int64_t{1} << (1 + draws.below(22))) - 1;
      for (size_t i = 0; i < m; ++i) {
        for (size_t j = 0; j < n; ++j) scores[i * stride + j] = draws.in32(-bound, bound);
        if (draws.below(3) == 0) mask_row(draws, &scores[i * stride], n);
        for (size_t j = n; j < pad_columns(n); ++j) {
          scores[i * stride + j] = draws.in32(INT32_MIN, INT32_MAX);
        }
      }
      SoftmaxArgs args = {};
      args.m = m, args.n = n;
      args.scores = scores.data(), args.scores_stride = stride;
      draw_head(draws, &args);
      args.dst = expected.data(), args.dst_stride = dst_stride, args.row = expected_row.data();
      variants[0].function(args);
      for (const auto& variant : variants) {
        Guarded<uint8_t> actual(expected.size());
        Guarded<Reciprocal> row(m);
        args.scores = scores.data(), args.dst = actual.data(), args.row = row.data();
        variant.function(args);
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " n " << n;
        ASSERT_TRUE(row.same_as(expected_row)) << variant.name << " n " << n;

        if (planes > 1) continue;
        Guarded<int32_t> both(scores.size(), 64);
        both.copy_from(scores);
        args.scores = both.data(), args.dst = reinterpret_cast<uint8_t*>(both.data());
        variant.function(args);
        for (size_t i = 0; i < m; ++i) {
          ASSERT_EQ(memcmp(args.dst + 4 * i * stride, &expected[4 * i * stride], pad_inputs(n)), 0)
              << variant.name << " in place, n " << n;
        }
      }
    }
  }
}

TEST_F(SoftmaxTest, EqualsScalar) {
  Draws draws(21);
  for (const Operation& operation : kOperations) expect_scalar_bits(draws, operation);
}

// Every exponent index: key j has the distance j, and the multiplier makes j the index.
void expect_every_index(const Operation& operation, int32_t cap) {
  const size_t n = 1024;
  Guarded<int32_t> scores(n, 64);
  for (size_t j = 0; j < n; ++j) scores[j] = -static_cast<int32_t>(j);
  for (const auto& variant : operation.variants()) {
    Guarded<uint8_t> dst(operation.planes * n);
    Reciprocal row;
    variant.function({.m = 1,
                      .n = n,
                      .scores = scores.data(),
                      .scores_stride = n,
                      .score_multiplier = 1u << 22,
                      .score_cap = cap,
                      .dst = dst.data(),
                      .dst_stride = n,
                      .row = &row});
    for (size_t j = 0; j < n; ++j) {
      const uint32_t i = static_cast<uint32_t>(std::min(static_cast<int32_t>(j), cap));
      const int32_t of_index = operation.planes == 1 ? exp2_u8(i) : exp2_u14(i);
      ASSERT_EQ(operation.at(dst.data(), n, j), of_index) << variant.name << " " << j;
    }
  }
}
TEST_F(SoftmaxTest, EveryIndex) {
  for (const int32_t cap : {1022, 577, 576, 575, 100, 0}) expect_every_index(kOperations[0], cap);
  for (const int32_t cap : {1022, 961, 960}) expect_every_index(kOperations[1], cap);
}

// A masked key gets nothing beside any other score, and an even share among masked ones.
void expect_nothing_for_masked(Draws& draws, const Operation& operation, uint32_t multiplier,
                               int32_t cap) {
  const auto variants = operation.variants();
  for (size_t n = 1; n <= 130; ++n) {
    Guarded<int32_t> scores(pad_columns(n), 64);
    const size_t stride = pad_inputs(n);
    Guarded<uint8_t> dst(operation.planes * stride);
    for (size_t j = 0; j < n; ++j) scores[j] = draws.in32(1 - kScoreBound, kScoreBound - 1);
    mask_row(draws, scores.data(), n);
    int32_t highest = kMaskedScore;
    for (size_t j = 0; j < n; ++j) highest = std::max(highest, scores[j]);
    for (const auto& variant : variants) {
      Reciprocal row;
      variant.function({.m = 1,
                        .n = n,
                        .scores = scores.data(),
                        .scores_stride = n,
                        .score_multiplier = multiplier,
                        .score_cap = cap,
                        .dst = dst.data(),
                        .dst_stride = stride,
                        .row = &row});
      uint32_t sum = 0;
      for (size_t j = 0; j < n; ++j) {
        const int32_t e = operation.at(dst.data(), stride, j);
        sum += static_cast<uint32_t>(e);
        if (scores[j] == highest) {
          ASSERT_EQ(e, operation.top) << variant.name;
        } else if (scores[j] == kMaskedScore) {
          ASSERT_EQ(e, 0) << variant.name << " multiplier " << multiplier;
        }
      }
      ASSERT_EQ(row.value, reciprocal(sum).value) << variant.name;
      ASSERT_EQ(row.z, reciprocal(sum).z) << variant.name;
    }
  }
}

// From the smallest multiplier for which the contract promises it to the largest.
TEST_F(SoftmaxTest, MaskedKeysGetNothing) {
  Draws draws(22);
  for (const uint32_t multiplier :
       {3u, 4u, 1000u, 36800u, 36900u, 271000u, 1u << 30, (1u << 31) - (1u << 20) - 1}) {
    const uint64_t end = uint64_t{1151} << 21;  // index 576 is reached
    const int32_t cap = static_cast<int32_t>((end + multiplier - 1) / multiplier);
    expect_nothing_for_masked(draws, kOperations[0], multiplier, cap);
  }
  for (const uint32_t multiplier : {4u, 5u, 1000u, 65500u, 65600u, 271000u, 268435455u, 1u << 28}) {
    expect_nothing_for_masked(draws, kOperations[1], multiplier, score_cap_u14(multiplier));
  }
}

// The sums of both planes with values, joined, are exact for as many keys as there can be: with
// even, one-hot, masked and random rows and the largest values.
TEST_F(SoftmaxTest, PlanesTimesValuesAreExact) {
  Draws draws(23);
  for (const size_t n : {size_t{1}, size_t{17}, size_t{511}, size_t{512}}) {
    const size_t m = 6, inputs = pad_inputs(n), columns = 16;
    Guarded<int32_t> scores(m * pad_columns(n), 64), sums(2 * m * columns, 64), of_values(columns);
    Guarded<uint8_t> planes(2 * m * inputs);
    Guarded<int8_t> values(columns * n), packed(columns * inputs, 64);
    std::vector<Reciprocal> row(m);
    for (size_t i = 0; i < m; ++i) {
      for (size_t j = 0; j < n; ++j) {
        const int32_t random = draws.in32(-200000, 200000);
        scores[i * pad_columns(n) + j] = i == 0   ? 0
                                         : i == 1 ? (j == n / 2 ? 1000000 : 0)
                                         : i == 2 ? kMaskedScore
                                         : i == 3 ? (j % 2 == 0 ? random : kMaskedScore)
                                                  : random;
      }
    }
    for (size_t i = 0; i < columns * n; ++i) {
      values[i] = static_cast<int8_t>(i < n ? 127 : i < 2 * n ? -127 : draws.in(-127, 127));
    }
    pack_rhs(RhsOrder::kN16K4, values.data(), columns, n, packed.data());
    column_sums(values.data(), columns, n, of_values.data());
    softmax_u8x2_s32_scalar({.m = m,
                             .n = n,
                             .scores = scores.data(),
                             .scores_stride = pad_columns(n),
                             .score_multiplier = 70000,
                             .score_cap = score_cap_u14(70000),
                             .dst = planes.data(),
                             .dst_stride = inputs,
                             .row = row.data()});
    gemm_s32_n16k4_scalar({.m = 2 * m,
                           .n = columns,
                           .k = inputs,
                           .lhs = planes.data(),
                           .lhs_stride = inputs,
                           .lhs_type = LhsType::kUnsigned,
                           .rhs = packed.data(),
                           .bias = nullptr,
                           .sums = of_values.data(),
                           .dst = sums.data(),
                           .dst_stride = columns});
    convert_s32_s32x2_scalar({.m = m,
                              .n = columns,
                              .acc = sums.data(),
                              .acc_stride = columns,
                              .join_shift = 0,
                              .bias = nullptr,
                              .dst = sums.data(),
                              .dst_stride = 2 * columns});
    for (size_t i = 0; i < m; ++i) {
      int64_t sum = 0;
      for (size_t j = 0; j < n; ++j) {
        sum += kOperations[1].at(&planes[2 * i * inputs], inputs, j);
      }
      ASSERT_LT(sum, 1 << 23);
      for (size_t c = 0; c < columns; ++c) {
        int64_t exact = 0;
        for (size_t j = 0; j < n; ++j) {
          exact +=
              int64_t{kOperations[1].at(&planes[2 * i * inputs], inputs, j)} * values[c * n + j];
        }
        ASSERT_EQ(sums[2 * i * columns + c], exact) << "row " << i << " column " << c;
        ASSERT_LE(std::abs(exact) << (23 - row[i].z), INT32_MAX);
      }
    }
  }
}

// Every probability is within half a unit of Q15 of its exact quotient, plus the error of the
// reciprocal. With a factor above 1 it saturates at 65535.
void expect_quotients(Draws& draws, const Operation& operation) {
  const auto variants = variants_of(&Kernels::attention_probabilities);
  const size_t planes = operation.planes;
  for (const size_t n : tail_sizes()) {
    const size_t m = 1 + draws.below(5), stride = n + draws.below(5),
                 dst_stride = n + draws.below(5);
    Guarded<uint8_t> exponentials((planes * m - 1) * stride + n);
    std::vector<Reciprocal> row(m);
    std::vector<int32_t> factors(m), sums(m, 0);
    Guarded<uint16_t> expected((m - 1) * dst_stride + n);
    for (size_t i = 0; i < m; ++i) {
      uint8_t* of_row = &exponentials[planes * i * stride];
      const size_t top = draws.below(n);
      for (size_t j = 0; j < n; ++j) {
        const int32_t e = j == top              ? operation.top
                          : draws.below(3) == 0 ? 0
                                                : draws.in32(0, operation.top);
        of_row[j] = static_cast<uint8_t>(e >> (8 * (planes - 1))) ^ kUnsignedLhsFlip;
        of_row[(planes - 1) * stride + j] = static_cast<uint8_t>(e) ^ kUnsignedLhsFlip;
        sums[i] += e;
      }
      factors[i] = draws.below(2) == 0 ? 32768 : draws.in32(0, 32768);
      row[i] = scale_reciprocal(reciprocal(static_cast<uint32_t>(sums[i])), factors[i]);
      if (draws.below(2) == 0) {  // a factor up to 2
        factors[i] *= 2;
        --row[i].z;
      }
    }
    for (const auto& variant : variants) {
      Guarded<uint16_t> actual(expected.size());
      variant.function({.m = m,
                        .n = n,
                        .planes = planes,
                        .exponentials = exponentials.data(),
                        .exponentials_stride = stride,
                        .row = row.data(),
                        .dst = actual.data(),
                        .dst_stride = dst_stride});
      for (size_t i = 0; i < m; ++i) {
        for (size_t j = 0; j < n; ++j) {
          const double e = operation.at(&exponentials[planes * i * stride], stride, j);
          const double exact = std::min(e * factors[i] / sums[i], 65535.0);
          ASSERT_NEAR(actual[i * dst_stride + j], exact, 0.5 + 0x1p-13) << variant.name;
          expected[i * dst_stride + j] = actual[i * dst_stride + j];
        }
      }
      ASSERT_TRUE(actual.same_as(expected)) << variant.name << " wrote beside its rows";
    }
  }
}
TEST_F(AttentionProbabilitiesTest, AreTheQuotients) {
  Draws draws(63);
  for (const Operation& operation : kOperations) expect_quotients(draws, operation);
}

}  // namespace
}  // namespace embert
