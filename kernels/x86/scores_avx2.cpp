// SPDX-License-Identifier: Apache-2.0
// Relative positions and masks of 8 keys, tails by the reference arithmetic. A term is clamped to
// +-2 kScoreBound before it is added, which changes no result: the sum saturates at kScoreBound.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx2.hpp"

namespace embert {
namespace {

// kNeighbours: col_step is 1; otherwise the products of a row are gathered.
template <bool kRight, bool kNeighbours>
void add(const AddRelativePositionsArgs& args) {
  const Shifts256 shifts = make_shifts<kRight>(args.left, args.right);
  const __m256i factor = _mm256_set1_epi32(args.multiplier), zero = _mm256_setzero_si256();
  const __m256i high = _mm256_set1_epi32(2 * kScoreBound), top = _mm256_set1_epi32(kScoreBound - 1);
  const __m256i low = _mm256_sub_epi32(zero, high), bottom = _mm256_sub_epi32(zero, top);
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i step = _mm256_set1_epi32(static_cast<int32_t>(args.col_step));
  const __m256i offsets = _mm256_mullo_epi32(lane, step);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* products = args.products + static_cast<ptrdiff_t>(i) * args.row_step;
    int32_t* scores = args.scores + i * args.scores_stride;
    const auto at = [&](size_t j) { return products + static_cast<ptrdiff_t>(j) * args.col_step; };
    size_t j = 0;
    for (; j + 8 <= args.n; j += 8) {
      const __m256i product =
          kNeighbours ? load(products + j) : _mm256_i32gather_epi32(at(j), offsets, 4);
      const __m256i term = requantize<kRight>(product, {factor, factor}, shifts);
      const __m256i sum =
          _mm256_add_epi32(load(scores + j), _mm256_max_epi32(_mm256_min_epi32(term, high), low));
      store(scores + j, _mm256_max_epi32(_mm256_min_epi32(sum, top), bottom));
    }
    for (; j < args.n; ++j) {
      scores[j] = relative_score(scores[j], *at(j), args.multiplier, args.left, args.right);
    }
  }
}

// Sets all bits of the lanes whose byte is 0.
EMBERT_INLINE __m256i zeros(const uint8_t* bytes) {
  const __m128i x = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes));
  return _mm256_cmpeq_epi32(_mm256_cvtepu8_epi32(x), _mm256_setzero_si256());
}

}  // namespace

void add_relative_positions_avx2(const AddRelativePositionsArgs& args) {
  if (args.col_step == 1) {
    args.right != 0 ? add<true, true>(args) : add<false, true>(args);
  } else {
    args.right != 0 ? add<true, false>(args) : add<false, false>(args);
  }
}

void mask_scores_avx2(const MaskScoresArgs& args) {
  const __m256i masked = _mm256_set1_epi32(kMaskedScore);
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  for (size_t i = 0; i < args.m; ++i) {
    int32_t* scores = args.scores + i * args.scores_stride;
    const uint8_t* key = args.key_mask;
    const uint8_t* pair =
        args.pair_mask != nullptr ? args.pair_mask + i * args.pair_stride : nullptr;
    const size_t reach = causal_reach(args.n, args.visible, i);
    const size_t open = args.query_mask == nullptr || args.query_mask[i] != 0 ? reach : 0;
    __m256i seen_lanes = _mm256_setzero_si256();
    size_t j = 0;
    for (; j + 8 <= args.n; j += 8) {
      const int32_t left = j < open ? static_cast<int32_t>(open - j) : 0;
      __m256i seen = _mm256_cmpgt_epi32(_mm256_set1_epi32(left), lane);
      if (key != nullptr) seen = _mm256_andnot_si256(zeros(key + j), seen);
      if (pair != nullptr) seen = _mm256_andnot_si256(zeros(pair + j), seen);
      store(scores + j, _mm256_blendv_epi8(masked, load(scores + j), seen));
      seen_lanes = _mm256_or_si256(seen_lanes, seen);
    }
    bool any = _mm256_testz_si256(seen_lanes, seen_lanes) == 0;
    for (; j < args.n; ++j) {
      const bool seen =
          j < open && (key == nullptr || key[j] != 0) && (pair == nullptr || pair[j] != 0);
      if (!seen) scores[j] = kMaskedScore;
      any |= seen;
    }
    if (!any) memset(scores, 0, reach * sizeof(int32_t));
  }
}

}  // namespace embert
