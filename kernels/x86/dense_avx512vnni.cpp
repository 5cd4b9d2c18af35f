// SPDX-License-Identifier: Apache-2.0
// While a tile multiplies, the sums of the tile before it are requantised, a row after each share
// of the inputs. On Zen 5 products run on two of four vector pipes, shifts and table lookups on
// others, and the stored sums come from L1. Whole tiles of 32 columns are done so, for gelu, from 6
// rows.
#if !defined(__AVX512VNNI__)
#error "this file needs the flags of avx512vnni (kernels/sources.cmake)"
#endif
#include "kernels/variants.hpp"
#include "kernels/x86/activation_avx512.hpp"
#include "kernels/x86/gemm_tile_avx512.hpp"
#include "kernels/x86/residual_avx512.hpp"

namespace embert {
namespace {

constexpr size_t kPanels = 2;
constexpr size_t kColumns = kPanels * kPanelColumns;
// Tiles of fewer rows wait for their weights: of 5 rows a pass is 2 % slower than in two steps.
constexpr size_t kLeastRows = 6;
bool has_least_rows(size_t m) { return m >= kLeastRows * tiles_of_rows(m); }

/// A tile's sums, and the kernel that takes them.
template <typename Finish>
struct Beside {
  const Finish& finish_row;
  const int32_t* sums;  ///< [rows][kColumns]
  size_t i, j, rows;

  inline __attribute__((always_inline)) void finish(size_t row) const {
    finish_row(sums + row * kColumns, i + row, j);
  }
};

template <typename Finish>
void tile_beside(const GemmArgs& product, size_t rows, const TilePlace& at, const __m512i* start,
                 const Beside<Finish>& beside) {
  switch (rows) {
    case 6:
      return tile<6, kPanels>(product, at, start, beside);
    case 7:
      return tile<7, kPanels>(product, at, start, beside);
    case 8:
      return tile<8, kPanels>(product, at, start, beside);
    default:
      return tile<9, kPanels>(product, at, start, beside);
  }
}

/// The product's first n columns, a multiple of kColumns.
template <typename Finish>
void dense(const GemmArgs& product, size_t n, const Finish& finish_row) {
  const size_t most_rows = product.m < kTileRows + 1 ? product.m : kTileRows + 1;
  int32_t* sums = product.dst;  // [2][most_rows][kColumns], in turn
  int32_t* other_sums = sums + most_rows * kColumns;
  Beside<Finish> before = {finish_row, sums, 0, 0, 0};
  for (size_t j = 0; j < n; j += kColumns) {
    __m512i start[kPanels];
    start_sums<kPanels>(product, j, start);
    size_t tiles = tiles_of_rows(product.m);
    for (size_t i = 0; i < product.m; --tiles) {
      const size_t rows = (product.m - i) / tiles;
      tile_beside(product, rows, {i, j, sums, kColumns}, start, before);
      before.sums = sums, before.i = i, before.j = j, before.rows = rows;
      int32_t* const filled = sums;
      sums = other_sums;
      other_sums = filled;
      i += rows;
    }
  }
  for (size_t row = 0; row < before.rows; ++row) before.finish(row);
}

template <bool kRight>
struct FinishActivation {
  const RequantizeActivationArgs& args;
  ActivationLanes<kRight, 1, false> activation;

  inline __attribute__((always_inline)) void operator()(const int32_t* sums, size_t i,
                                                        size_t j) const {
    const int32_t* multiplier = args.factor.multiplier + j;
    _mm512_storeu_si512(args.dst + i * args.dst_stride + j,
                        activation(sums, sums + 16, load_multipliers(multiplier),
                                   load_multipliers(multiplier + 16)));
  }
};

struct FinishResidual {
  const RequantizeResidualArgs& args;
  ResidualShifts shifts;

  inline __attribute__((always_inline)) void operator()(const int32_t* sums, size_t i,
                                                        size_t j) const {
    const ResidualRow row = make_residual_row(args.row_max[i]);
    const size_t at = i * args.dst_stride + j;
    const __m512i small = _mm512_set1_epi32(shifts.small);
    __m512i x[kPanels], joined = _mm512_setzero_si512();
#pragma GCC unroll 2
    for (size_t p = 0; p < kPanels; ++p) {
      x[p] = _mm512_load_si512(sums + p * kPanelColumns);
      joined = _mm512_or_si512(joined, _mm512_add_epi32(x[p], small));
    }
    const auto store = [&](auto sum16) {
#pragma GCC unroll 2
      for (size_t p = 0; p < kPanels; ++p) {
        const size_t c = p * kPanelColumns;
        const __m512i residual = _mm512_cvtepu16_epi32(
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(args.residual + at + c)));
        _mm256_storeu_si256(
            reinterpret_cast<__m256i*>(args.dst + at + c),
            _mm512_cvtsepi32_epi16(sum16(x[p], residual, row, load_columns(args, j + c), shifts)));
      }
    };
    if (are_small(joined, shifts)) {
      store(small_residual_sum16);
    } else {
      store(residual_sum16);
    }
  }
};

}  // namespace

size_t dense_activation_avx512vnni(const DenseActivationArgs& args) {
  const RequantizeActivationArgs& a = args.activation;
  const bool is_gelu = a.activation.odd == 0 && a.activation.intervals == 64;
  if (!is_gelu || !has_least_rows(args.product.m)) return 0;
  const size_t n = a.n / kColumns * kColumns;
  if (a.factor.right != 0) {
    dense(args.product, n, FinishActivation<true>{a, ActivationLanes<true, 1, false>(a)});
  } else {
    dense(args.product, n, FinishActivation<false>{a, ActivationLanes<false, 1, false>(a)});
  }
  return n;
}

size_t dense_residual_avx512vnni(const DenseResidualArgs& args) {
  const RequantizeResidualArgs& r = args.residual;
  if (!has_least_rows(args.product.m)) return 0;
  const size_t n = r.n / kColumns * kColumns;
  dense(args.product, n, FinishResidual{r, make_residual_shifts(r.factor)});
  return n;
}

}  // namespace embert
