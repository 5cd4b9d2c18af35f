// SPDX-License-Identifier: Apache-2.0
// Softmax of 32 keys: softmax_avx512vnni.cpp on 256-bit registers. VPSHUFB looks up the table byte
// by byte. The table holds 2 T, so that T >> n is the upper half of 2 T * 2^(15 - n); the powers
// are looked up as well. About 75 instructions for 32 keys, 0.26 ns an element on Zen 5, and a
// division a row. The 14 bits are RS(T >> n, 1), an average with 0.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx2.hpp"

namespace embert {
namespace {

struct Constants {
  __m256i piece[2][4];            // low and high bytes of 2 T, 16 entries each
  __m256i power_low, power_high;  // bytes of 2^(15 - n)
  __m256i multiplier, cap_wide;   // 32-bit lanes
  __m256i low, high, cap;         // 16-bit lanes
};

void make_constants(const SoftmaxArgs& args, Constants* k) {
  uint8_t bytes[2][64], power[2][16] = {};
  for (int i = 0; i < 64; ++i) {
    bytes[0][i] = static_cast<uint8_t>(2 * kExpTable[i] & 0xff);
    bytes[1][i] = static_cast<uint8_t>(2 * kExpTable[i] >> 8);
  }
  for (int n = 0; n < 8; ++n) power[1][n] = power[0][8 + n] = static_cast<uint8_t>(0x80 >> n);
  const auto broadcast = [](const uint8_t* p) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  };
  for (int p = 0; p < 4; ++p) {
    k->piece[0][p] = broadcast(bytes[0] + 16 * p);
    k->piece[1][p] = broadcast(bytes[1] + 16 * p);
  }
  k->power_low = broadcast(power[0]);
  k->power_high = broadcast(power[1]);
  k->multiplier = _mm256_set1_epi32(static_cast<int32_t>(args.score_multiplier));
  k->cap_wide = _mm256_set1_epi32(args.score_cap);
  k->low = _mm256_set1_epi16(static_cast<int16_t>(args.score_multiplier & 0xffff));
  k->high = _mm256_set1_epi16(static_cast<int16_t>(args.score_multiplier >> 16));
  k->cap = _mm256_set1_epi16(static_cast<int16_t>(args.score_cap & 0xffff));
}

// (distance * multiplier + 2^21) >> 16 of 16 keys.
template <bool kWide>
EMBERT_INLINE __m256i scaled(__m256i d0, __m256i d1, const Constants& k) {
  if (kWide) {
    const __m256i round = _mm256_set1_epi32(1 << 21);
    d0 = _mm256_mullo_epi32(_mm256_min_epi32(d0, k.cap_wide), k.multiplier);
    d1 = _mm256_mullo_epi32(_mm256_min_epi32(d1, k.cap_wide), k.multiplier);
    return _mm256_packus_epi32(_mm256_srli_epi32(_mm256_add_epi32(d0, round), 16),
                               _mm256_srli_epi32(_mm256_add_epi32(d1, round), 16));
  }
  const __m256i d = _mm256_min_epu16(_mm256_packus_epi32(d0, d1), k.cap);
  return _mm256_add_epi16(
      _mm256_add_epi16(_mm256_mullo_epi16(d, k.high), _mm256_mulhi_epu16(d, k.low)),
      _mm256_set1_epi16(32));
}

// 32 keys to 32 bytes in each plane.
template <bool kWide, size_t kPlanes>
EMBERT_INLINE void key_block(const __m256i* d, const Constants& k, __m256i (&e)[kPlanes]) {
  const __m256i s0 = scaled<kWide>(d[0], d[1], k), s1 = scaled<kWide>(d[2], d[3], k);
  const __m256i low_bits = _mm256_set1_epi16(63);
  const __m256i i = _mm256_packus_epi16(_mm256_and_si256(_mm256_srli_epi16(s0, 6), low_bits),
                                        _mm256_and_si256(_mm256_srli_epi16(s1, 6), low_bits));
  const __m256i n = _mm256_packus_epi16(_mm256_srli_epi16(s0, 12), _mm256_srli_epi16(s1, 12));
  const __m256i bit4 = _mm256_slli_epi16(i, 3), bit5 = _mm256_slli_epi16(i, 2);
  const __m256i t_low = look_up(k.piece[0], i, bit4, bit5);
  const __m256i t_high = look_up(k.piece[1], i, bit4, bit5);
  const __m256i p_low = _mm256_shuffle_epi8(k.power_low, n);
  const __m256i p_high = _mm256_shuffle_epi8(k.power_high, n);
  const __m256i shifted0 =
      _mm256_mulhi_epu16(_mm256_unpacklo_epi8(t_low, t_high), _mm256_unpacklo_epi8(p_low, p_high));
  const __m256i shifted1 =
      _mm256_mulhi_epu16(_mm256_unpackhi_epi8(t_low, t_high), _mm256_unpackhi_epi8(p_low, p_high));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  const auto pack = [&order](__m256i a, __m256i b) {
    return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(a, b), order);
  };
  if (kPlanes == 1) {
    const __m256i to_seven_bits = _mm256_set1_epi16(256);
    e[0] = pack(_mm256_mulhrs_epi16(shifted0, to_seven_bits),
                _mm256_mulhrs_epi16(shifted1, to_seven_bits));
  } else {
    const __m256i zero = _mm256_setzero_si256(), low = _mm256_set1_epi16(255);
    const __m256i e0 = _mm256_avg_epu16(shifted0, zero), e1 = _mm256_avg_epu16(shifted1, zero);
    e[0] = pack(_mm256_srli_epi16(e0, 8), _mm256_srli_epi16(e1, 8));
    e[kPlanes - 1] = pack(_mm256_and_si256(e0, low), _mm256_and_si256(e1, low));
  }
}

EMBERT_INLINE int32_t row_maximum(const int32_t* scores, size_t n) {
  __m256i a = _mm256_set1_epi32(scores[0]), b = a;
  size_t j = 0;
  for (; j + 16 <= n; j += 16) {
    a = _mm256_max_epi32(a, load(scores + j));
    b = _mm256_max_epi32(b, load(scores + j + 8));
  }
  a = _mm256_max_epi32(a, b);
  __m128i x = _mm_max_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
  x = _mm_max_epi32(x, _mm_shuffle_epi32(x, 0x4e));
  x = _mm_max_epi32(x, _mm_shuffle_epi32(x, 0xb1));
  int32_t highest = _mm_cvtsi128_si32(x);
  for (; j < n; ++j) highest = scores[j] > highest ? scores[j] : highest;
  return highest;
}

EMBERT_INLINE int32_t sum_of_bytes(__m256i sums) {
  const __m128i half =
      _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  return _mm_cvtsi128_si32(_mm_add_epi64(half, _mm_unpackhi_epi64(half, half)));
}

template <bool kWide, size_t kPlanes>
void run(const SoftmaxArgs& all) {
  const SoftmaxArgs args = all;  // a copy, which no store can change
  Constants k;
  make_constants(args, &k);
  const __m256i zero = _mm256_setzero_si256(), flip = _mm256_set1_epi8(kUnsignedLhsFlip);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* scores = args.scores + i * args.scores_stride;
    uint8_t* dst = args.dst + kPlanes * i * args.dst_stride;
    const __m256i highest = _mm256_set1_epi32(row_maximum(scores, args.n));
    const auto distance = [&](size_t j) { return _mm256_sub_epi32(highest, load(scores + j)); };
    __m256i sums[kPlanes], e[kPlanes];
    for (__m256i& sum : sums) sum = zero;
    size_t j = 0;
    for (; j + 32 <= args.n; j += 32) {
      const __m256i d[4] = {distance(j), distance(j + 8), distance(j + 16), distance(j + 24)};
      key_block<kWide>(d, k, e);
      for (size_t p = 0; p < kPlanes; ++p) {
        sums[p] = _mm256_add_epi64(sums[p], _mm256_sad_epu8(e[p], zero));
        store(dst + p * args.dst_stride + j, _mm256_xor_si256(e[p], flip));
      }
    }
    if (j < args.n) {
      const size_t left = args.n - j;
      __m256i d[4];
      for (size_t v = 0; v < 4; ++v) d[v] = 8 * v < left ? distance(j + 8 * v) : zero;
      key_block<kWide>(d, k, e);
      for (size_t p = 0; p < kPlanes; ++p) {
        uint8_t bytes[32];
        store(bytes, e[p]);
        memset(bytes + left, 0, 32 - left);
        const __m256i kept = load(bytes);
        sums[p] = _mm256_add_epi64(sums[p], _mm256_sad_epu8(kept, zero));
        store_first(dst + p * args.dst_stride + j, _mm256_xor_si256(kept, flip), pad_inputs(left));
      }
    }
    int32_t sum = 0;
    for (const __m256i& of_plane : sums) sum = 256 * sum + sum_of_bytes(of_plane);
    args.row[i] = reciprocal(static_cast<uint32_t>(sum));
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

void softmax_u8_s32_avx2(const SoftmaxArgs& args) { softmax<1>(args); }
void softmax_u8x2_s32_avx2(const SoftmaxArgs& args) { softmax<2>(args); }

}  // namespace embert
