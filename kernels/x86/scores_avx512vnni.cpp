// SPDX-License-Identifier: Apache-2.0
// Relative positions and masks of 16 keys. A term is clamped to +-2 kScoreBound before it is added,
// which changes no result: the sum saturates at kScoreBound.
#include <string.h>

#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx512.hpp"

namespace embert {
namespace {

// kNeighbours: col_step is 1; otherwise the products of a row are gathered.
template <bool kRight, bool kNeighbours>
void add(const AddRelativePositionsArgs& args) {
  const Shifts512 shifts = make_shifts<kRight>({&args.multiplier, args.left, args.right});
  const __m512i factor = _mm512_set1_epi32(args.multiplier), zero = _mm512_setzero_si512();
  const __m512i high = _mm512_set1_epi32(2 * kScoreBound), top = _mm512_set1_epi32(kScoreBound - 1);
  const __m512i low = _mm512_sub_epi32(zero, high), bottom = _mm512_sub_epi32(zero, top);
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i step = _mm512_set1_epi32(static_cast<int32_t>(args.col_step));
  const __m512i offsets = _mm512_mullo_epi32(lane, step);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* products = args.products + static_cast<ptrdiff_t>(i) * args.row_step;
    int32_t* scores = args.scores + i * args.scores_stride;
    for (size_t j = 0; j < args.n; j += 16) {
      const __mmask16 mask = mask16(args.n - j);
      const int32_t* first = products + static_cast<ptrdiff_t>(j) * args.col_step;
      const __m512i product = kNeighbours
                                  ? _mm512_maskz_loadu_epi32(mask, first)
                                  : _mm512_mask_i32gather_epi32(zero, mask, offsets, first, 4);
      const __m512i term = requantize<kRight>(product, {factor, factor}, shifts);
      const __m512i sum = _mm512_add_epi32(_mm512_maskz_loadu_epi32(mask, scores + j),
                                           _mm512_max_epi32(_mm512_min_epi32(term, high), low));
      _mm512_mask_storeu_epi32(scores + j, mask,
                               _mm512_max_epi32(_mm512_min_epi32(sum, top), bottom));
    }
  }
}

// The mask of the valid keys whose byte is not 0.
EMBERT_INLINE __mmask16 nonzero(const uint8_t* bytes, __mmask16 valid) {
  const __m128i x = _mm_maskz_loadu_epi8(valid, bytes);
  return _mm_test_epi8_mask(x, x);
}

}  // namespace

void add_relative_positions_avx512vnni(const AddRelativePositionsArgs& args) {
  if (args.col_step == 1) {
    args.right != 0 ? add<true, true>(args) : add<false, true>(args);
  } else {
    args.right != 0 ? add<true, false>(args) : add<false, false>(args);
  }
}

void mask_scores_avx512vnni(const MaskScoresArgs& args) {
  const __m512i masked = _mm512_set1_epi32(kMaskedScore);
  for (size_t i = 0; i < args.m; ++i) {
    int32_t* scores = args.scores + i * args.scores_stride;
    const uint8_t* pair =
        args.pair_mask != nullptr ? args.pair_mask + i * args.pair_stride : nullptr;
    const size_t reach = causal_reach(args.n, args.visible, i);
    const size_t open = args.query_mask == nullptr || args.query_mask[i] != 0 ? reach : 0;
    unsigned any = 0;
    for (size_t j = 0; j < args.n; j += 16) {
      const __mmask16 valid = mask16(args.n - j);
      __mmask16 seen = j < open ? mask16(open - j) : __mmask16{0};
      if (args.key_mask != nullptr) seen = _kand_mask16(seen, nonzero(args.key_mask + j, valid));
      if (pair != nullptr) seen = _kand_mask16(seen, nonzero(pair + j, valid));
      _mm512_mask_storeu_epi32(scores + j, _kandn_mask16(seen, valid), masked);
      any |= seen;
    }
    if (any == 0) memset(scores, 0, reach * sizeof(int32_t));
  }
}

}  // namespace embert
