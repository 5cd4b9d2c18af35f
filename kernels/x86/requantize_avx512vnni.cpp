// SPDX-License-Identifier: Apache-2.0
// Queries and context. Queries: 64 columns to 64 bytes, about 42 instructions, 0.055 ns an
// element on Zen 5. Context: the planes are joined and requantised in 64-bit lanes, all shifts of
// join_planes moved into its roundings, about 30 instructions for 16 elements, 0.14 ns each.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx512.hpp"

namespace embert {
namespace {

EMBERT_INLINE __m512i signed_lhs(__m512i bytes) {
  return _mm512_xor_si512(_mm512_max_epi8(bytes, _mm512_set1_epi8(-127)),
                          _mm512_set1_epi8(static_cast<char>(kSignedLhsFlip)));
}

template <bool kRight>
void run_lhs(const RequantizeQueryArgs& args) {
  const Shifts512 shifts = make_shifts<kRight>(args.factor);
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  for (size_t c = 0; c < args.n; c += 64) {
    const size_t left = args.n - c;
    const __mmask16 mask = mask16(pad_inputs(left) / 4);
    Multipliers512 m[4];
    size_t at[4];  // vectors beyond the row repeat its last one and are not stored
    for (size_t v = 0; v < 4; ++v) {
      at[v] = 16 * v < left ? 16 * v : 0;
      m[v] = load_multipliers(args.factor.multiplier + c + at[v]);
    }
    const __mmask64 valid = mask64(left);
    const int32_t* acc = args.acc + c;
    uint8_t* dst = args.dst + c;
    for (size_t i = 0; i < args.m; ++i, acc += args.acc_stride, dst += args.dst_stride) {
      const __m512i x0 = requantize<kRight>(_mm512_load_si512(acc + at[0]), m[0], shifts);
      const __m512i x1 = requantize<kRight>(_mm512_load_si512(acc + at[1]), m[1], shifts);
      const __m512i x2 = requantize<kRight>(_mm512_load_si512(acc + at[2]), m[2], shifts);
      const __m512i x3 = requantize<kRight>(_mm512_load_si512(acc + at[3]), m[3], shifts);
      const __m512i bytes = _mm512_permutexvar_epi32(
          order, _mm512_packs_epi16(_mm512_packs_epi32(x0, x1), _mm512_packs_epi32(x2, x3)));
      if (left >= 64) {
        _mm512_storeu_si512(dst, signed_lhs(bytes));
      } else {
        _mm512_mask_storeu_epi32(dst, mask, signed_lhs(_mm512_maskz_mov_epi8(valid, bytes)));
      }
    }
  }
}

// One half (even or odd lanes) of 16 columns in 64-bit lanes; counts and roundings as in run.
struct Join {
  __m512i reciprocal, high_round, high_shift, low_round, low_shift;  // of a row
};
EMBERT_INLINE __m512i join(__m512i high, __m512i low, const Join& k) {
  const __m512i h = _mm512_srav_epi64(
      _mm512_add_epi64(_mm512_mul_epi32(high, k.reciprocal), k.high_round), k.high_shift);
  const __m512i l = _mm512_srav_epi64(
      _mm512_add_epi64(_mm512_mul_epi32(low, k.reciprocal), k.low_round), k.low_shift);
  return _mm512_add_epi32(h, l);
}

template <bool kRight>
void run_context(const RequantizeContextArgs& args) {
  const Shifts512 s = make_shifts<kRight>(args.factor);
  const __m512i shift = _mm512_set1_epi64(31 - args.factor.left + args.factor.right);
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
      const Multipliers512 m = load_multipliers(args.factor.multiplier + c);
      even = _mm512_srav_epi64(_mm512_add_epi64(_mm512_mul_epi32(even, m.even), s.round), shift);
      odd = _mm512_srav_epi64(_mm512_add_epi64(_mm512_mul_epi32(odd, m.odd), s.round), shift);
      const __m512i joined = _mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32));
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

void requantize_query_avx512vnni(const RequantizeQueryArgs& args) {
  if (args.factor.right != 0) {
    run_lhs<true>(args);
  } else {
    run_lhs<false>(args);
  }
}

void requantize_context_avx512vnni(const RequantizeContextArgs& args) {
  if (args.factor.right != 0) {
    run_context<true>(args);
  } else {
    run_context<false>(args);
  }
}

}  // namespace embert
