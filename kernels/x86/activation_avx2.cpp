// SPDX-License-Identifier: Apache-2.0
// Activation of 32 columns in 16-bit lanes. VPSHUFB looks up a table of 64 intervals byte by byte,
// in four pieces of 16 entries for each byte of node and difference; longer tables are gathered as
// (node, difference) pairs. About 110 instructions for 32 elements (gelu), 0.32 ns an element on
// Zen 5.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx2.hpp"

namespace embert {
namespace {

enum class Lookup { kNone, kShuffle, kGather };

struct Table {
  __m256i piece[4][4];  // low and high bytes of nodes, then of differences; 16 entries each
  int32_t pairs[257];   // node in the lower half, difference in the upper; the last is 0
  __m256i intervals;    // 16-bit lanes
  __m128i interval_shift, fraction_shift;  // counts
  __m256i output_factor;                   // 2^(15 - output shift) for VPMULHRSW
  __m256i offset, upper;                   // upper: of the odd kind, for g >= 0
  bool odd;
};

template <Lookup kLookup>
void make_table(const Activation& a, Table* t) {
  t->intervals = _mm256_set1_epi16(static_cast<int16_t>(a.intervals));
  t->interval_shift = _mm_cvtsi32_si128(a.exponent - 4);
  t->fraction_shift = _mm_cvtsi32_si128(19 - a.exponent);
  t->output_factor = _mm256_set1_epi16(static_cast<int16_t>(1 << (a.exponent + 1)));
  t->offset = _mm256_set1_epi16(static_cast<int16_t>(a.offset_q14));
  t->upper = _mm256_set1_epi16(static_cast<int16_t>(2 << a.exponent));
  t->odd = a.odd != 0;
  if (kLookup == Lookup::kShuffle) {
    uint8_t bytes[4][64];
    for (int i = 0; i < 64; ++i) {
      const int32_t node = a.nodes[i], difference = a.nodes[i + 1] - node;
      bytes[0][i] = static_cast<uint8_t>(node & 0xff);
      bytes[1][i] = static_cast<uint8_t>(node >> 8 & 0xff);
      bytes[2][i] = static_cast<uint8_t>(difference & 0xff);
      bytes[3][i] = static_cast<uint8_t>(difference >> 8 & 0xff);
    }
    for (int b = 0; b < 4; ++b) {
      for (int p = 0; p < 4; ++p) {
        t->piece[b][p] = _mm256_broadcastsi128_si256(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes[b] + 16 * p)));
      }
    }
  }
  if (kLookup == Lookup::kGather) {
    for (int i = 0; i < a.intervals; ++i) {
      t->pairs[i] = (a.nodes[i] & 0xffff) + (a.nodes[i + 1] - a.nodes[i]) * 65536;
    }
    t->pairs[a.intervals] = 0;
  }
}

struct Chord {
  __m256i node, difference;
};
EMBERT_INLINE void shuffle_chords(__m256i i0, __m256i i1, const Table& t, Chord* chord) {
  const __m256i bound = _mm256_set1_epi8(64);  // 64 + 64 sets bit 7
  const __m256i i = _mm256_add_epi8(_mm256_min_epu8(_mm256_packus_epi16(i0, i1), bound), bound);
  const __m256i bit4 = _mm256_slli_epi16(i, 3), bit5 = _mm256_slli_epi16(i, 2);
  const __m256i node_low = look_up(t.piece[0], i, bit4, bit5);
  const __m256i node_high = look_up(t.piece[1], i, bit4, bit5);
  const __m256i low = look_up(t.piece[2], i, bit4, bit5);
  const __m256i high = look_up(t.piece[3], i, bit4, bit5);
  chord[0] = {_mm256_unpacklo_epi8(node_low, node_high), _mm256_unpacklo_epi8(low, high)};
  chord[1] = {_mm256_unpackhi_epi8(node_low, node_high), _mm256_unpackhi_epi8(low, high)};
}
EMBERT_INLINE Chord gather_chord(__m256i i, const Table& t) {
  const __m256i zero = _mm256_setzero_si256();
  i = _mm256_min_epi16(i, t.intervals);
  const __m256i a = _mm256_i32gather_epi32(t.pairs, _mm256_unpacklo_epi16(i, zero), 4);
  const __m256i b = _mm256_i32gather_epi32(t.pairs, _mm256_unpackhi_epi16(i, zero), 4);
  return {_mm256_packs_epi32(_mm256_srai_epi32(_mm256_slli_epi32(a, 16), 16),
                             _mm256_srai_epi32(_mm256_slli_epi32(b, 16), 16)),
          _mm256_packs_epi32(_mm256_srai_epi32(a, 16), _mm256_srai_epi32(b, 16))};
}

EMBERT_INLINE __m256i combine(__m256i g, __m256i h, const Table& t) {
  const __m256i zero = _mm256_setzero_si256();
  __m256i base, rest;
  if (t.odd) {
    const __m256i negative = _mm256_srai_epi16(g, 15);
    base = _mm256_andnot_si256(negative, t.upper);
    rest = _mm256_blendv_epi8(_mm256_sub_epi16(zero, h), h, negative);
  } else {
    base = _mm256_max_epi16(g, zero);
    rest = _mm256_sub_epi16(t.offset, h);
  }
  return _mm256_adds_epi16(base, _mm256_mulhrs_epi16(rest, t.output_factor));
}

template <Lookup kLookup>
EMBERT_INLINE void activate(__m256i* g, const Table& t) {
  __m256i fraction[2], i[2], h[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  if (kLookup != Lookup::kNone) {
    Chord chord[2];
    for (int v = 0; v < 2; ++v) {
      const __m256i magnitude = _mm256_abs_epi16(g[v]);
      i[v] = _mm256_srl_epi16(magnitude, t.interval_shift);
      fraction[v] = _mm256_and_si256(_mm256_sll_epi16(magnitude, t.fraction_shift),
                                     _mm256_set1_epi16(0x7fff));
    }
    if (kLookup == Lookup::kShuffle) {
      shuffle_chords(i[0], i[1], t, chord);
    } else {
      chord[0] = gather_chord(i[0], t);
      chord[1] = gather_chord(i[1], t);
    }
    for (int v = 0; v < 2; ++v) {
      h[v] = _mm256_add_epi16(chord[v].node, _mm256_mulhrs_epi16(chord[v].difference, fraction[v]));
    }
  }
  for (int v = 0; v < 2; ++v) g[v] = unpack_order(combine(g[v], h[v], t));
}

template <bool kRight, Lookup kLookup>
void run(const RequantizeActivationArgs& args) {
  const Shifts256 shifts = make_shifts<kRight>(args.factor.left, args.factor.right);
  Table table;
  make_table<kLookup>(args.activation, &table);
  const __m256i lowest = _mm256_set1_epi16(-32767);
  for (size_t c = 0; c < args.n; c += 32) {
    const size_t left = args.n - c;
    const size_t second = left > 16 ? 16 : 0;  // the last group may have 16 columns
    const int32_t* multiplier = args.factor.multiplier + c;
    const Multipliers256 m[4] = {load_multipliers(multiplier), load_multipliers(multiplier + 8),
                                 load_multipliers(multiplier + second),
                                 load_multipliers(multiplier + second + 8)};
    for (size_t i = 0; i < args.m; ++i) {
      const int32_t* acc = args.acc + i * args.acc_stride + c;
      uint16_t* dst = args.dst + i * args.dst_stride + c;
      __m256i g[2] = {_mm256_max_epi16(requantize16<kRight>(acc, m, shifts), lowest),
                      _mm256_max_epi16(requantize16<kRight>(acc + second, m + 2, shifts), lowest)};
      activate<kLookup>(g, table);
      if (left >= 32) {
        store(dst, g[0]);
        store(dst + 16, g[1]);
      } else if (left >= 16) {
        store(dst, g[0]);
        store_first(dst + 16, g[1], 2 * (left - 16));
      } else {
        store_first(dst, g[0], 2 * left);
      }
    }
  }
}

template <bool kRight>
void run_kind(const RequantizeActivationArgs& args) {
  const int32_t intervals = args.activation.intervals;
  if (intervals == 0) return run<kRight, Lookup::kNone>(args);
  if (intervals == 64) return run<kRight, Lookup::kShuffle>(args);
  run<kRight, Lookup::kGather>(args);
}

}  // namespace

void requantize_activation_avx2(const RequantizeActivationArgs& args) {
  if (args.factor.right != 0) {
    run_kind<true>(args);
  } else {
    run_kind<false>(args);
  }
}

}  // namespace embert
