// SPDX-License-Identifier: Apache-2.0
// Activation of 32 columns. Two requantised vectors are packed to 16 bits, VPERMI2W looks up nodes
// and differences, and one VPMULHRSW each interpolates and applies the output shift. About 34
// instructions for 32 elements (gelu).
#pragma once

#include "kernels/contracts/activation.hpp"
#include "kernels/x86/lanes_avx512.hpp"

namespace embert {
namespace {

// The table in blocks of 64 intervals. kBlocks = 0 is relu.
template <int kBlocks>
struct Table {
  __m512i nodes[kBlocks + 1u][2], differences[kBlocks + 1u][2];
};

struct Constants {
  __m512i interval_shift, fraction_shift;  // counts
  __m512i output_factor;                   // 2^(15 - output shift) for VPMULHRSW
  __m512i offset, upper;                   // upper: of the odd kind, for g >= 0
};

EMBERT_INLINE Constants load_constants(const Activation& a) {
  return {_mm512_set1_epi16(static_cast<int16_t>(a.exponent - 4)),
          _mm512_set1_epi16(static_cast<int16_t>(19 - a.exponent)),
          _mm512_set1_epi16(static_cast<int16_t>(1 << (a.exponent + 1))),
          _mm512_set1_epi16(static_cast<int16_t>(a.offset_q14)),
          _mm512_set1_epi16(static_cast<int16_t>(2 << a.exponent))};
}

template <int kBlocks>
EMBERT_INLINE Table<kBlocks> load_table(const Activation& a) {
  Table<kBlocks> table;
  for (int b = 0; b < kBlocks; ++b) {
    for (int half = 0; half < 2; ++half) {
      const int16_t* nodes = a.nodes + 64 * b + 32 * half;
      table.nodes[b][half] = _mm512_loadu_si512(nodes);
      table.differences[b][half] =
          _mm512_sub_epi16(_mm512_loadu_si512(nodes + 1), table.nodes[b][half]);
    }
  }
  return table;
}

// h(|g|): node + VPMULHRSW(difference, fraction in Q15), 0 beyond the table.
template <int kBlocks>
EMBERT_INLINE __m512i remainder(__m512i magnitude, const Table<kBlocks>& table,
                                const Constants& k) {
  const __m512i i = _mm512_srlv_epi16(magnitude, k.interval_shift);
  const __m512i fraction =
      _mm512_and_si512(_mm512_sllv_epi16(magnitude, k.fraction_shift), _mm512_set1_epi16(0x7fff));
  __m512i node = _mm512_setzero_si512(), difference = _mm512_setzero_si512();
  for (int b = 0; b < kBlocks; ++b) {
    const __mmask32 here =
        kBlocks == 1 ? _mm512_cmplt_epi16_mask(i, _mm512_set1_epi16(64))
                     : _mm512_cmpeq_epi16_mask(_mm512_srli_epi16(i, 6),
                                               _mm512_set1_epi16(static_cast<int16_t>(b)));
    const __m512i node_b =
        _mm512_maskz_permutex2var_epi16(here, table.nodes[b][0], i, table.nodes[b][1]);
    const __m512i difference_b =
        _mm512_maskz_permutex2var_epi16(here, table.differences[b][0], i, table.differences[b][1]);
    node = b == 0 ? node_b : _mm512_or_si512(node, node_b);
    difference = b == 0 ? difference_b : _mm512_or_si512(difference, difference_b);
  }
  return _mm512_add_epi16(node, _mm512_mulhrs_epi16(difference, fraction));
}

template <int kBlocks, bool kOdd>
EMBERT_INLINE __m512i activate(__m512i g, const Table<kBlocks>& table, const Constants& k) {
  const __m512i zero = _mm512_setzero_si512();
  const __m512i h = kBlocks == 0 ? zero : remainder<kBlocks>(_mm512_abs_epi16(g), table, k);
  __m512i base, rest;
  if (kOdd) {
    const __mmask32 negative = _mm512_movepi16_mask(g);
    base = _mm512_mask_mov_epi16(k.upper, negative, zero);
    rest = _mm512_mask_mov_epi16(_mm512_sub_epi16(zero, h), negative, h);
  } else {
    base = _mm512_max_epi16(g, zero);
    rest = _mm512_sub_epi16(k.offset, h);
  }
  return _mm512_adds_epi16(base, _mm512_mulhrs_epi16(rest, k.output_factor));
}

/// The constants of one kind of activation.
template <bool kRight, int kBlocks, bool kOdd>
struct ActivationLanes {
  Shifts512 shifts;
  Table<kBlocks> table;
  Constants constants;

  explicit ActivationLanes(const RequantizeActivationArgs& args)
      : shifts(make_shifts<kRight>(args.factor)),
        table(load_table<kBlocks>(args.activation)),
        constants(load_constants(args.activation)) {}

  // Sums of 2 x 16 columns and their multipliers.
  inline __attribute__((always_inline)) __m512i operator()(const int32_t* acc0, const int32_t* acc1,
                                                           const Multipliers512& m0,
                                                           const Multipliers512& m1) const {
    const __m512i x0 = requantize<kRight>(_mm512_load_si512(acc0), m0, shifts);
    const __m512i x1 = requantize<kRight>(_mm512_load_si512(acc1), m1, shifts);
    const __m512i g = _mm512_max_epi16(_mm512_packs_epi32(x0, x1), _mm512_set1_epi16(-32767));
    return unpack_order(activate<kBlocks, kOdd>(g, table, constants));
  }
};

}  // namespace
}  // namespace embert
