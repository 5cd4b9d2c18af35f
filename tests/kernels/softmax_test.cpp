// SPDX-License-Identifier: Apache-2.0
// Softmax against the scalar kernel: every key count to 513, small and large caps, in place or not,
// with masked scores and without. Probabilities against their exact quotients.
#include <algorithm>

#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using SoftmaxTest = SeededTest;
using AttentionProbabilitiesTest = SeededTest;

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

TEST_F(SoftmaxTest, EqualsScalar) {
  const auto variants = variants_of(&Kernels::softmax);
  ASSERT_FALSE(variants.empty());
  Draws draws(21);
  for (int repeat = 0; repeat < 24; ++repeat) {
    for (size_t n = 1; n <= 513; ++n) {
      const size_t m = 1 + draws.below(3), stride = pad_columns(n) + 16 * draws.below(2);
      Guarded<int32_t> scores((m - 1) * stride + pad_columns(n), 64);
      Guarded<uint8_t> expected((m - 1) * 4 * stride + pad_inputs(n));
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
      args.dst = expected.data(), args.dst_stride = 4 * stride, args.row = expected_row.data();
      variants[0].function(args);
      for (const auto& variant : variants) {
        Guarded<uint8_t> actual(expected.size());
        Guarded<Reciprocal> row(m);
        args.scores = scores.data(), args.dst = actual.data(), args.row = row.data();
        variant.function(args);
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " n " << n;
        ASSERT_TRUE(row.same_as(expected_row)) << variant.name << " n " << n;

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

// Every exponent index: key j has the distance j, and the multiplier makes j the index.
TEST_F(SoftmaxTest, EveryIndex) {
  const auto variants = variants_of(&Kernels::softmax);
  const size_t n = 640;
  Guarded<int32_t> scores(n, 64);
  for (size_t j = 0; j < n; ++j) scores[j] = -static_cast<int32_t>(j);
  for (const int32_t cap : {1022, 577, 576, 575, 100, 0}) {
    for (const auto& variant : variants) {
      Guarded<uint8_t> dst(n);
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
        const uint32_t distance =
            static_cast<uint32_t>(static_cast<int32_t>(j) < cap ? static_cast<int32_t>(j) : cap);
        ASSERT_EQ(dst[j] ^ kUnsignedLhsFlip, exp2_u8(exp2_index(distance, 1u << 22)))
            << variant.name << " " << j;
      }
    }
  }
}

// A masked key gets nothing beside any other score, and an even share among masked ones; from the
// smallest multiplier for which the contract promises it to the largest.
TEST_F(SoftmaxTest, MaskedKeysGetNothing) {
  const auto variants = variants_of(&Kernels::softmax);
  Draws draws(22);
  for (const uint32_t multiplier :
       {3u, 4u, 1000u, 36800u, 36900u, 271000u, 1u << 30, (1u << 31) - (1u << 20) - 1}) {
    const uint64_t end = uint64_t{1151} << 21;  // index 576 is reached
    const int32_t cap = static_cast<int32_t>((end + multiplier - 1) / multiplier);
    for (size_t n = 1; n <= 130; ++n) {
      Guarded<int32_t> scores(pad_columns(n), 64);
      Guarded<uint8_t> dst(pad_inputs(n));
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
                          .dst_stride = n,
                          .row = &row});
        uint32_t sum = 0;
        for (size_t j = 0; j < n; ++j) {
          const int32_t e = dst[j] ^ kUnsignedLhsFlip;
          sum += static_cast<uint32_t>(e);
          if (scores[j] == highest) {
            ASSERT_EQ(e, 255) << variant.name;
          } else if (scores[j] == kMaskedScore) {
            ASSERT_EQ(e, 0) << variant.name << " multiplier " << multiplier;
          }
        }
        ASSERT_EQ(row.value, reciprocal(sum).value) << variant.name;
        ASSERT_EQ(row.z, reciprocal(sum).z) << variant.name;
      }
    }
  }
}

// Every probability is within half a unit of Q15 of its exact quotient, plus the error of the
// reciprocal. With a factor above 1 it saturates at 65535.
TEST_F(AttentionProbabilitiesTest, AreTheQuotients) {
  const auto variants = variants_of(&Kernels::attention_probabilities);
  Draws draws(63);
  for (const size_t n : tail_sizes()) {
    const size_t m = 1 + draws.below(5), stride = n + draws.below(5),
                 dst_stride = n + draws.below(5);
    Guarded<uint8_t> exponentials((m - 1) * stride + n);
    std::vector<Reciprocal> row(m);
    std::vector<int32_t> factors(m), sums(m, 0);
    Guarded<uint16_t> expected((m - 1) * dst_stride + n);
    for (size_t i = 0; i < m; ++i) {
      const size_t top = draws.below(n);
      for (size_t j = 0; j < n; ++j) {
        const int32_t e = j == top ? 255 : draws.below(3) == 0 ? 0 : draws.in32(0, 255);
        exponentials[i * stride + j] = static_cast<uint8_t>(e) ^ kUnsignedLhsFlip;
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
                        .exponentials = exponentials.data(),
                        .exponentials_stride = stride,
                        .row = row.data(),
                        .dst = actual.data(),
                        .dst_stride = dst_stride});
      for (size_t i = 0; i < m; ++i) {
        for (size_t j = 0; j < n; ++j) {
          const int32_t e = exponentials[i * stride + j] ^ kUnsignedLhsFlip;
          const double exact = std::min(static_cast<double>(e) * factors[i] / sums[i], 65535.0);
          ASSERT_NEAR(actual[i * dst_stride + j], exact, 0.5 + 0x1p-13) << variant.name;
          expected[i * dst_stride + j] = actual[i * dst_stride + j];
        }
      }
      ASSERT_TRUE(actual.same_as(expected)) << variant.name << " wrote beside its rows";
    }
  }
}

}  // namespace
}  // namespace embert
