// SPDX-License-Identifier: Apache-2.0
// Residual sums of whole rows, 32 columns at a time down the rows, so that a column's constants are
// made once. About 57 instructions for 32 small sums and 9 that find out, 73 for large ones.
#include "kernels/variants.hpp"
#include "kernels/x86/residual_avx512.hpp"

namespace embert {
namespace {

constexpr size_t kRows = 32;  // of most callers' blocks
constexpr size_t kColumns = 32;

/// Some rows and up to 32 columns.
struct Block {
  size_t row0, m, column;
  const ResidualRow* rows;  ///< [m]
};

// Whether all sums of a block are small.
EMBERT_INLINE bool block_is_small(const RequantizeResidualArgs& args, const Block& block,
                                  const ResidualShifts& shifts) {
  if (shifts.small == 0) return true;
  const size_t second = args.n - block.column > 16 ? 16 : 0;  // the last group may be one vector
  const int32_t* acc = args.acc + block.row0 * args.acc_stride + block.column;
  const __m512i small = _mm512_set1_epi32(shifts.small);
  __m512i joined = _mm512_setzero_si512();
  for (size_t i = 0; i < block.m; ++i, acc += args.acc_stride) {
    joined = _mm512_or_si512(joined, _mm512_add_epi32(_mm512_load_si512(acc), small));
    joined = _mm512_or_si512(joined, _mm512_add_epi32(_mm512_load_si512(acc + second), small));
  }
  return are_small(joined, shifts);
}

/// kMasked: the block has fewer than 32 columns. sum16(x, residual, row, columns) are 16 sums in 32
/// bits.
template <bool kMasked, typename Sum16>
EMBERT_INLINE void run_rows(const RequantizeResidualArgs& args, const Block& block,
                            const Sum16& sum16) {
  const size_t c = block.column, left = args.n - c;
  const size_t second = !kMasked || left > 16 ? 16 : 0;  // the last group may be one vector
  const __mmask16 mask0 = mask16(left), mask1 = mask16(left - second);
  const ResidualColumns k0 = load_columns(args, c), k1 = load_columns(args, c + second);
  const int32_t* acc = args.acc + block.row0 * args.acc_stride + c;
  const int16_t* residual = args.residual + block.row0 * args.dst_stride + c;
  int16_t* dst = args.dst + block.row0 * args.dst_stride + c;
  const auto load = [](__mmask16 mask, const int16_t* t) {
    return _mm512_cvtepu16_epi32(kMasked ? _mm256_maskz_loadu_epi16(mask, t)
                                         : _mm256_loadu_si256(reinterpret_cast<const __m256i*>(t)));
  };
  for (size_t i = 0; i < block.m; ++i) {
    const ResidualRow& row = block.rows[i];
    const __m512i x0 = sum16(_mm512_load_si512(acc), load(mask0, residual), row, k0);
    const __m512i x1 =
        sum16(_mm512_load_si512(acc + second), load(mask1, residual + second), row, k1);
    const __m512i sums = unpack_order(_mm512_packs_epi32(x0, x1));
    if (kMasked) {
      _mm512_mask_storeu_epi16(dst, mask32(left), sums);
    } else {
      _mm512_storeu_si512(dst, sums);
    }
    acc += args.acc_stride;
    residual += args.dst_stride;
    dst += args.dst_stride;
  }
}

template <bool kMasked>
void run_block(const RequantizeResidualArgs& args, const Block& block,
               const ResidualShifts& shifts) {
  if (block_is_small(args, block, shifts)) {
    run_rows<kMasked>(
        args, block,
        [&](__m512i x, __m512i residual, const ResidualRow& row, const ResidualColumns& k) {
          return small_residual_sum16(x, residual, row, k, shifts);
        });
  } else {
    run_rows<kMasked>(
        args, block,
        [&](__m512i x, __m512i residual, const ResidualRow& row, const ResidualColumns& k) {
          return residual_sum16(x, residual, row, k, shifts);
        });
  }
}

}  // namespace

void requantize_residual_avx512vnni(const RequantizeResidualArgs& args) {
  const ResidualShifts shifts = make_residual_shifts(args.factor);
  ResidualRow rows[kRows];
  for (size_t row0 = 0; row0 < args.m; row0 += kRows) {
    const size_t m = args.m - row0 < kRows ? args.m - row0 : kRows;
    for (size_t i = 0; i < m; ++i) rows[i] = make_residual_row(args.row_max[row0 + i]);
    for (size_t c = 0; c < args.n; c += kColumns) {
      const Block block = {row0, m, c, rows};
      if (args.n - c < kColumns) {
        run_block<true>(args, block, shifts);
      } else {
        run_block<false>(args, block, shifts);
      }
    }
  }
}

}  // namespace embert
