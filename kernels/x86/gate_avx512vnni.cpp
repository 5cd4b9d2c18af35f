// SPDX-License-Identifier: Apache-2.0
// Gate of 16 columns in 32-bit lanes; the products have at most 31 bits.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx512.hpp"

namespace embert {
namespace {

template <bool kRight>
void run(const RequantizeGateArgs& args) {
  const Shifts512 shifts = make_shifts<kRight>(args.factor);
  const __m512i offset = _mm512_set1_epi32(args.offset);
  const __m512i round = _mm512_set1_epi32(args.shift == 0 ? 0 : 1 << (args.shift - 1));
  const __m512i highest = _mm512_set1_epi32(32767), lowest = _mm512_set1_epi32(-32767);
  const __m128i shift = _mm_cvtsi32_si128(args.shift);
  for (size_t c = 0; c < args.n; c += 16) {
    const __mmask16 mask = mask16(args.n - c);
    const Multipliers512 m = load_multipliers(args.factor.multiplier + c);
    const int32_t* acc = args.acc + c;
    int16_t* values = args.values + c;
    for (size_t i = 0; i < args.m; ++i, acc += args.acc_stride, values += args.stride) {
      const __m512i sum = requantize<kRight>(_mm512_load_si512(acc), m, shifts);
      const __m512i gate = _mm512_max_epi32(_mm512_min_epi32(sum, highest), lowest);
      const __m512i value =
          _mm512_sub_epi32(_mm512_cvtepi16_epi32(_mm256_maskz_loadu_epi16(mask, values)), offset);
      // VPMADDWD multiplies the lower halves: value's upper half is cleared.
      const __m512i product = _mm512_madd_epi16(_mm512_maskz_mov_epi16(0x55555555, value), gate);
      const __m512i shifted = _mm512_sra_epi32(_mm512_add_epi32(product, round), shift);
      _mm256_mask_storeu_epi16(values, mask,
                               _mm512_cvtsepi32_epi16(_mm512_max_epi32(shifted, lowest)));
    }
  }
}

}  // namespace

void requantize_gate_avx512vnni(const RequantizeGateArgs& args) {
  if (args.factor.right != 0) {
    run<true>(args);
  } else {
    run<false>(args);
  }
}

}  // namespace embert
