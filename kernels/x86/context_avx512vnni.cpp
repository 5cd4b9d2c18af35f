// SPDX-License-Identifier: Apache-2.0
// Context. The planes are joined and requantised in 64-bit lanes, with all shifts of join_planes()
// moved into its roundings. About 27 instructions for 16 elements, 32
// without a right shift.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx512.hpp"

namespace embert {
namespace {

// join_planes() of the even or the odd ones of 16 columns, in 64-bit lanes. The constants are those
// of a row.
struct Join {
  __m512i reciprocal, high_round, high_shift, low_round, low_shift;
};
EMBERT_INLINE __m512i join(__m512i high, __m512i low, const Join& k) {
  const __m512i h = _mm512_srav_epi64(
      _mm512_add_epi64(_mm512_mul_epi32(high, k.reciprocal), k.high_round), k.high_shift);
  const __m512i l = _mm512_srav_epi64(
      _mm512_add_epi64(_mm512_mul_epi32(low, k.reciprocal), k.low_round), k.low_shift);
  return _mm512_add_epi32(h, l);
}

template <bool kRight>
void run(const RequantizeContextArgs& args) {
  const Shifts512 s = make_shifts<kRight>(args.factor);
  const size_t columns = pad_columns(args.n);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    int16_t* dst = args.dst + i * args.dst_stride;
    const int32_t z = args.row[i].z;  // (x << (23 - z)) r >> 31 = x r >> (8 + z)
    const Join k = {_mm512_set1_epi32(args.row[i].value), _mm512_set1_epi64(int64_t{1} << (7 + z)),
                    _mm512_set1_epi64(8 + z),
                    _mm512_set1_epi64((int64_t{1} << (7 + z)) + (int64_t{1} << (15 + z))),
                    _mm512_set1_epi64(16 + z)};
    for (size_t c = 0; c < args.n; c += 16) {
      const __m512i high = _mm512_load_si512(acc + c), low = _mm512_load_si512(acc + columns + c);
      __m512i even = join(high, low, k), odd = join(odd_lanes(high), odd_lanes(low), k);
      if (!kRight) {
        even = _mm512_max_epi32(_mm512_min_epi32(even, s.highest), s.lowest);
        odd = _mm512_max_epi32(_mm512_min_epi32(odd, s.highest), s.lowest);
      }
      const __m512i joined =
          requantize_lanes<kRight>(even, odd, load_multipliers(args.factor.multiplier + c), s);
      const __m256i value =
          _mm256_max_epi16(_mm512_cvtsepi32_epi16(joined), _mm256_set1_epi16(-32767));
      if (args.n - c >= 16) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst + c), value);
      } else {
        _mm256_mask_storeu_epi16(dst + c, mask16(args.n - c), value);
      }
    }
  }
}

}  // namespace

void requantize_context_avx512vnni(const RequantizeContextArgs& args) {
  if (args.factor.right != 0) {
    run<true>(args);
  } else {
    run<false>(args);
  }
}

}  // namespace embert
