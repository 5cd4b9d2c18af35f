// SPDX-License-Identifier: Apache-2.0
// Activation of 4 columns. Nodes are gathered, with a predicate: lanes beyond the table (for relu,
// all lanes) get a remainder of 0.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

// h(|g|).
EMBERT_INLINE int32x4_t remainder4(int32x4_t g, const Activation& a) {
  const int32_t interval_shift = a.exponent - 4;
  const uint32x4_t magnitude = vreinterpretq_u32_s32(vabsq_s32(g));
  const uint32x4_t i = vshlq_r_u32(magnitude, -interval_shift);
  const int32x4_t fraction =
      vreinterpretq_s32_u32(vandq_u32(magnitude, vdupq_n_u32((uint32_t{1} << interval_shift) - 1)));
  const mve_pred16_t inside = vcmphiq_u32(vdupq_n_u32(static_cast<uint32_t>(a.intervals)), i);
  const int32x4_t node = vldrhq_gather_shifted_offset_z_s32(a.nodes, i, inside);
  const int32x4_t next = vldrhq_gather_shifted_offset_z_s32(a.nodes, vaddq_n_u32(i, 1), inside);
  const int32x4_t part = vmulq_s32(vsubq_s32(next, node), fraction);
  return vaddq_s32(node, vrshlq_n_s32(part, -interval_shift));
}

template <bool kOdd>
EMBERT_INLINE int32x4_t activate4(int32x4_t g, const Activation& a) {
  const int32x4_t h = remainder4(g, a), zero = vdupq_n_s32(0);
  const int32_t output_shift = a.exponent - 14;
  if (kOdd) {
    const mve_pred16_t positive = vcmpgeq_n_s32(g, 0);
    const int32x4_t base = vpselq_s32(vdupq_n_s32(2 << a.exponent), zero, positive);
    return vaddq_s32(base, vrshlq_n_s32(vpselq_s32(vnegq_s32(h), h, positive), output_shift));
  }
  const int32x4_t rest = vsubq_s32(vdupq_n_s32(a.offset_q14), h);
  return vaddq_s32(vmaxq_s32(g, zero), vrshlq_n_s32(rest, output_shift));
}

template <bool kOdd>
void run(const RequantizeActivationArgs args) {  // a copy, which no store can change
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    int16_t* dst = reinterpret_cast<int16_t*>(args.dst) + i * args.dst_stride;
    by_fours(args.n, [&](size_t c, auto lanes) {
      const int32x4_t g = clamp4(columns4(args.factor, acc, c), -32767, 32767);
      const int32x4_t u = vminq_s32(activate4<kOdd>(g, args.activation), vdupq_n_s32(32767));
      store4(dst + c, u, lanes);
    });
  }
}

}  // namespace

void requantize_activation_mve(const RequantizeActivationArgs& args) {
  if (args.activation.odd != 0) {
    run<true>(args);
  } else {
    run<false>(args);
  }
}

}  // namespace embert
