// SPDX-License-Identifier: Apache-2.0
// Residual sums of whole rows, 32 columns at a time down the rows.
#include "kernels/variants.hpp"
#include "kernels/x86/residual_avx512.hpp"

namespace embert {
namespace {

constexpr size_t kRows = 32;
constexpr size_t kColumns = 32;

/// Rows whose factors are made, and columns.
struct Block {
  size_t row0, m, column;
  const ResidualRow* rows;  ///< [m]
};

// Of a block of 32 columns.
EMBERT_INLINE bool block_is_small(const RequantizeResidualArgs& args, const Block& block,
                                  const ResidualShifts& shifts) {
  const int32_t* acc = args.acc + block.row0 * args.acc_stride + block.column;
  const __m512i small = _mm512_set1_epi32(shifts.small);
  __m512i joined = _mm512_setzero_si512();
  for (size_t i = 0; i < block.m; ++i, acc += args.acc_stride) {
    joined = _mm512_or_si512(joined, _mm512_add_epi32(_mm512_load_si512(acc), small));
    joined = _mm512_or_si512(joined, _mm512_add_epi32(_mm512_load_si512(acc + 16), small));
  }
  return are_small(joined, shifts);
}

/// kWhole: the block has 32 columns. sum16(x, residual, row, columns) are 16 sums in 32 bits.
template <bool kWhole, typename Sum16>
EMBERT_INLINE void run_block(const RequantizeResidualArgs& args, const Block& block,
                             const Sum16& sum16) {
  const size_t c = block.column, left = args.n - c;
  const size_t second = kWhole || left > 16 ? 16 : 0;  // the last group may be one vector
  const __mmask16 mask0 = mask16(left), mask1 = mask16(left - second);
  const __m512i order =
      _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);  // undoes the pack's interleaving
  const ResidualColumns k0 = load_columns(args, c), k1 = load_columns(args, c + second);
  const int32_t* acc = args.acc + block.row0 * args.acc_stride + c;
  const int16_t* residual = args.residual + block.row0 * args.dst_stride + c;
  int16_t* dst = args.dst + block.row0 * args.dst_stride + c;
  const auto load = [](__mmask16 mask, const int16_t* t) {
    return _mm512_cvtepu16_epi32(kWhole ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(t))
                                        : _mm256_maskz_loadu_epi16(mask, t));
  };
  for (size_t i = 0; i < block.m; ++i) {
    const ResidualRow& row = block.rows[i];
    const __m512i x0 = sum16(_mm512_load_si512(acc), load(mask0, residual), row, k0);
    const __m512i x1 =
        sum16(_mm512_load_si512(acc + second), load(mask1, residual + second), row, k1);
    const __m512i sums = _mm512_permutexvar_epi64(order, _mm512_packs_epi32(x0, x1));
    if (kWhole) {
      _mm512_storeu_si512(dst, sums);
    } else {
      _mm512_mask_storeu_epi16(dst, mask32(left), sums);
    }
    acc += args.acc_stride;
    residual += args.dst_stride;
    dst += args.dst_stride;
  }
}

}  // namespace

void requantize_residual_avx512vnni(const RequantizeResidualArgs& args) {
  const ResidualShifts shifts = make_residual_shifts(args.factor);
  const auto small = [&](__m512i x, __m512i residual, const ResidualRow& row,
                         const ResidualColumns& k) {
    return small_residual_sum16(x, residual, row, k, shifts);
  };
  const auto any = [&](__m512i x, __m512i residual, const ResidualRow& row,
                       const ResidualColumns& k) {
    return residual_sum16(x, residual, row, k, shifts);
  };
  ResidualRow rows[kRows];
  for (size_t row0 = 0; row0 < args.m; row0 += kRows) {
    const size_t m = args.m - row0 < kRows ? args.m - row0 : kRows;
    for (size_t i = 0; i < m; ++i) rows[i] = make_residual_row(args.row_max[row0 + i]);
    for (size_t c = 0; c < args.n; c += kColumns) {
      const Block block = {row0, m, c, rows};
      const bool whole = args.n - c >= kColumns;
      if (whole && block_is_small(args, block, shifts)) {
        run_block<true>(args, block, small);
      } else {
        run_block<false>(args, block, any);
      }
    }
  }
}

}  // namespace embert
