// SPDX-License-Identifier: Apache-2.0
// Softmax of 64 keys in 16-bit lanes. With the score multiplier in halves, M = 2^16 high + low,
//   (d M + 2^21) >> 22 = (d high + (d low >> 16) + 32) >> 6 = s >> 6, all below 2^16,
// the table index is bits 6..11 of s, the binary exponent n the bits from 12 on. (T + (64 << n)) >>
// (7 + n) = RS(T >> n, 7), which is 0 from n = 9 on without a comparison. The distance fits 16 bits
// if the cap does; larger caps (of tiny multipliers) need the product in 32 bits. About 0.6
// instructions an element, 0.07 ns on Zen 5 at 128 keys, and a division a row. The 14 bits are RS(T
// >> n, 1), an average with 0.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx512.hpp"

namespace embert {
namespace {

struct Constants {
  __m512i table[2];
  __m512i multiplier;  // 32-bit lanes
  __m512i low, high;   // its halves, 16-bit lanes
  __m512i cap;         // 16-bit lanes, 32-bit when wide
  __m512i order;       // of the 32-bit lanes after both packs
};

// 32 keys, in 16 bits. VPERMI2W reads (s >> 6) & 63 of its index, so no mask is needed.
template <bool kWide, size_t kPlanes>
EMBERT_INLINE __m512i exponentials(__m512i highest, __m512i s0, __m512i s1, const Constants& k) {
  __m512i d0 = _mm512_sub_epi32(highest, s0), d1 = _mm512_sub_epi32(highest, s1);
  __m512i s;
  if (kWide) {
    const __m512i round = _mm512_set1_epi32(1 << 21);
    d0 = _mm512_mullo_epi32(_mm512_min_epi32(d0, k.cap), k.multiplier);
    d1 = _mm512_mullo_epi32(_mm512_min_epi32(d1, k.cap), k.multiplier);
    s = _mm512_packus_epi32(_mm512_srli_epi32(_mm512_add_epi32(d0, round), 16),
                            _mm512_srli_epi32(_mm512_add_epi32(d1, round), 16));
  } else {
    const __m512i d = _mm512_min_epu16(_mm512_packus_epi32(d0, d1), k.cap);
    s = _mm512_add_epi16(
        _mm512_add_epi16(_mm512_mullo_epi16(d, k.high), _mm512_mulhi_epu16(d, k.low)),
        _mm512_set1_epi16(32));
  }
  const __m512i fraction =
      _mm512_permutex2var_epi16(k.table[0], _mm512_srli_epi16(s, 6), k.table[1]);
  const __m512i shifted = _mm512_srlv_epi16(fraction, _mm512_srli_epi16(s, 12));
  return kPlanes == 1 ? _mm512_mulhrs_epi16(shifted, _mm512_set1_epi16(256))
                      : _mm512_avg_epu16(shifted, _mm512_setzero_si512());
}

EMBERT_INLINE __m512i max_of_all(__m512i x) {
  x = _mm512_max_epi32(x, _mm512_shuffle_i64x2(x, x, 0x4e));
  x = _mm512_max_epi32(x, _mm512_shuffle_i64x2(x, x, 0xb1));
  x = _mm512_max_epi32(x, _mm512_shuffle_epi32(x, _MM_PERM_BADC));
  return _mm512_max_epi32(x, _mm512_shuffle_epi32(x, _MM_PERM_CDAB));
}

EMBERT_INLINE __m512i row_maximum(const int32_t* scores, size_t n) {
  __m512i a = _mm512_set1_epi32(INT32_MIN), b = a;
  size_t j = 0;
  for (; j + 32 <= n; j += 32) {
    a = _mm512_max_epi32(a, _mm512_load_si512(scores + j));
    b = _mm512_max_epi32(b, _mm512_load_si512(scores + j + 16));
  }
  for (; j < n; j += 16)
    a = _mm512_mask_max_epi32(a, mask16(n - j), a, _mm512_load_si512(scores + j));
  return max_of_all(_mm512_max_epi32(a, b));
}

// 64 keys to 64 bytes in each plane.
template <bool kWide, size_t kPlanes>
EMBERT_INLINE void key_block(__m512i highest, const __m512i (&s)[4], const Constants& k,
                             __m512i (&e)[kPlanes]) {
  const __m512i e0 = exponentials<kWide, kPlanes>(highest, s[0], s[1], k);
  const __m512i e1 = exponentials<kWide, kPlanes>(highest, s[2], s[3], k);
  const auto pack = [&k](__m512i a, __m512i b) {
    return _mm512_permutexvar_epi32(k.order, _mm512_packus_epi16(a, b));
  };
  if (kPlanes == 1) {
    e[0] = pack(e0, e1);
  } else {
    const __m512i low = _mm512_set1_epi16(255);
    e[0] = pack(_mm512_srli_epi16(e0, 8), _mm512_srli_epi16(e1, 8));
    e[kPlanes - 1] = pack(_mm512_and_si512(e0, low), _mm512_and_si512(e1, low));
  }
}

// A row of exponentials, its planes `stride` bytes apart.
struct ExponentialRow {
  uint8_t* dst;
  size_t stride;
};

// Writes the bytes of one row and returns the partial sums of the exponentials.
template <bool kWide, size_t kPlanes>
EMBERT_INLINE __m512i exponential_row(const int32_t* scores, size_t n, __m512i highest,
                                      const ExponentialRow& row, const Constants& k) {
  const __m512i ones = _mm512_set1_epi8(1), flip = _mm512_set1_epi8(kUnsignedLhsFlip);
  __m512i sums[kPlanes], e[kPlanes];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  size_t j = 0;
  for (; j + 64 <= n; j += 64) {
    const int32_t* at = scores + j;
    const __m512i s[4] = {_mm512_load_si512(at), _mm512_load_si512(at + 16),
                          _mm512_load_si512(at + 32), _mm512_load_si512(at + 48)};
    key_block<kWide>(highest, s, k, e);
    for (size_t p = 0; p < kPlanes; ++p) {
      sums[p] = _mm512_dpbusd_epi32(sums[p], e[p], ones);
      _mm512_storeu_si512(row.dst + p * row.stride + j, _mm512_xor_si512(e[p], flip));
    }
  }
  if (j < n) {
    const size_t left = n - j;
    __m512i s[4];
    for (size_t v = 0; v < 4; ++v) {
      s[v] = 16 * v < left ? _mm512_load_si512(scores + j + 16 * v) : highest;
    }
    key_block<kWide>(highest, s, k, e);
    for (size_t p = 0; p < kPlanes; ++p) {
      const __m512i kept = _mm512_maskz_mov_epi8(mask64(left), e[p]);
      sums[p] = _mm512_dpbusd_epi32(sums[p], kept, ones);
      _mm512_mask_storeu_epi32(row.dst + p * row.stride + j, mask16(pad_inputs(left) / 4),
                               _mm512_xor_si512(kept, flip));
    }
  }
  if (kPlanes == 1) return sums[0];
  return _mm512_add_epi32(_mm512_slli_epi32(sums[0], 8), sums[kPlanes - 1]);
}

// Maxima, exponentials and reciprocals of 8 rows in turn: each is a chain of dependent
// instructions, and other rows fill the waits.
template <bool kWide, size_t kPlanes>
void run(const SoftmaxArgs& args) {
  Constants k;
  k.table[0] = _mm512_loadu_si512(kExpTable);
  k.table[1] = _mm512_loadu_si512(kExpTable + 32);
  k.multiplier = _mm512_set1_epi32(static_cast<int32_t>(args.score_multiplier));
  k.low = _mm512_set1_epi16(static_cast<int16_t>(args.score_multiplier & 0xffff));
  k.high = _mm512_set1_epi16(static_cast<int16_t>(args.score_multiplier >> 16));
  k.cap = kWide ? _mm512_set1_epi32(args.score_cap)
                : _mm512_set1_epi16(static_cast<int16_t>(args.score_cap));
  k.order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);

  constexpr size_t kRows = 8;
  for (size_t row = 0; row < args.m; row += kRows) {
    const size_t m = args.m - row < kRows ? args.m - row : kRows;
    const int32_t* scores = args.scores + row * args.scores_stride;
    uint8_t* dst = args.dst + kPlanes * row * args.dst_stride;
    __m512i values[kRows];
    for (size_t i = 0; i < m; ++i) values[i] = row_maximum(scores + i * args.scores_stride, args.n);
    for (size_t i = 0; i < m; ++i) {
      values[i] = exponential_row<kWide, kPlanes>(
          scores + i * args.scores_stride, args.n, values[i],
          {dst + kPlanes * i * args.dst_stride, args.dst_stride}, k);
    }
    for (size_t i = 0; i < m; ++i) {
      args.row[row + i] = reciprocal(static_cast<uint32_t>(_mm512_reduce_add_epi32(values[i])));
    }
  }
}

template <size_t kPlanes>
void softmax(const SoftmaxArgs& args) {
  if (args.score_cap > 0xffff) {
    run<true, kPlanes>(args);
  } else {
    run<false, kPlanes>(args);
  }
}

}  // namespace

void softmax_u8_s32_avx512vnni(const SoftmaxArgs& args) { softmax<1>(args); }
void softmax_u8x2_s32_avx512vnni(const SoftmaxArgs& args) { softmax<2>(args); }

}  // namespace embert
