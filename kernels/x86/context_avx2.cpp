// SPDX-License-Identifier: Apache-2.0
// Context: both planes of 16 columns in about 75 instructions, 0.33 ns an element on Zen 5.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx2.hpp"

namespace embert {
namespace {

// The reciprocal of a row, and the shifts of join_planes().
struct Join {
  Multipliers256 reciprocal;
  __m128i left;  // 23 - z
  Shifts256 plain, by8;
};
// join_planes() of 8 columns.
EMBERT_INLINE __m256i join(const int32_t* high, const int32_t* low, const Join& k) {
  return _mm256_add_epi32(
      requantize<false>(_mm256_sll_epi32(load(high), k.left), k.reciprocal, k.plain),
      requantize<true>(_mm256_sll_epi32(load(low), k.left), k.reciprocal, k.by8));
}

template <bool kRight>
void run(const RequantizeContextArgs& args) {
  const Shifts256 shifts = make_shifts<kRight>(args.factor.left, args.factor.right);
  const Shifts256 plain = make_shifts<false>(0, 0), by8 = make_shifts<true>(0, 8);
  const size_t columns = pad_columns(args.n);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    int16_t* dst = args.dst + i * args.dst_stride;
    const __m256i value = _mm256_set1_epi32(args.row[i].value);
    const Join k = {{value, value}, _mm_cvtsi32_si128(23 - args.row[i].z), plain, by8};
    for (size_t c = 0; c < args.n; c += 16) {
      __m256i x[2];
      for (size_t v = 0; v < 2; ++v) {
        const size_t at = c + 8 * v;
        x[v] = requantize<kRight>(join(acc + at, acc + columns + at, k),
                                  load_multipliers(args.factor.multiplier + at), shifts);
      }
      const __m256i packed =
          _mm256_max_epi16(_mm256_packs_epi32(x[0], x[1]), _mm256_set1_epi16(-32767));
      if (args.n - c >= 16) {
        store(dst + c, unpack_order(packed));
      } else {
        store_first(dst + c, unpack_order(packed), 2 * (args.n - c));
      }
    }
  }
}

}  // namespace

void requantize_context_avx2(const RequantizeContextArgs& args) {
  if (args.factor.right != 0) {
    run<true>(args);
  } else {
    run<false>(args);
  }
}

}  // namespace embert
