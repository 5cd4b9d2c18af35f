// SPDX-License-Identifier: Apache-2.0
// Gate of 16 columns: 16-bit halves of the products, unpacked to 32 bits.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx2.hpp"

namespace embert {
namespace {

struct Gate {
  __m256i offset;  // 16-bit lanes
  __m256i round;   // 32-bit lanes
  __m128i shift;   // count
};

// 16 columns; gate is in the order of columns.
EMBERT_INLINE __m256i gated(__m256i activated, __m256i gate, const Gate& k) {
  const __m256i value = _mm256_sub_epi16(activated, k.offset);
  const __m256i low = _mm256_mullo_epi16(value, gate), high = _mm256_mulhi_epi16(value, gate);
  const auto shifted = [&](__m256i product) {
    return _mm256_sra_epi32(_mm256_add_epi32(product, k.round), k.shift);
  };
  const __m256i packed = _mm256_packs_epi32(shifted(_mm256_unpacklo_epi16(low, high)),
                                            shifted(_mm256_unpackhi_epi16(low, high)));
  return _mm256_max_epi16(packed, _mm256_set1_epi16(-32767));
}

template <bool kRight>
void run(const RequantizeGateArgs& args) {
  const Shifts256 shifts = make_shifts<kRight>(args.factor.left, args.factor.right);
  const Gate k = {_mm256_set1_epi16(static_cast<int16_t>(args.offset)),
                  _mm256_set1_epi32(args.shift == 0 ? 0 : 1 << (args.shift - 1)),
                  _mm_cvtsi32_si128(args.shift)};
  const __m256i lowest = _mm256_set1_epi16(-32767);
  for (size_t c = 0; c < args.n; c += 16) {
    const size_t bytes = args.n - c >= 16 ? 32 : 2 * (args.n - c);
    const Multipliers256 m[2] = {load_multipliers(args.factor.multiplier + c),
                                 load_multipliers(args.factor.multiplier + c + 8)};
    for (size_t i = 0; i < args.m; ++i) {
      const int32_t* acc = args.acc + i * args.acc_stride + c;
      int16_t* values = args.values + i * args.stride + c;
      const __m256i gate =
          _mm256_max_epi16(unpack_order(requantize16<kRight>(acc, m, shifts)), lowest);
      if (bytes == 32) {
        store(values, gated(load(values), gate, k));
      } else {
        int16_t tail[16] = {};
        memcpy(tail, values, bytes);
        store_first(values, gated(load(tail), gate, k), bytes);
      }
    }
  }
}

}  // namespace

void requantize_gate_avx2(const RequantizeGateArgs& args) {
  if (args.factor.right != 0) {
    run<true>(args);
  } else {
    run<false>(args);
  }
}

}  // namespace embert
