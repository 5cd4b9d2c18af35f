// SPDX-License-Identifier: Apache-2.0
// Products of any shape: blocks of 32 rows, and for each as few chunks of inputs as fit.
#include "kernels/arm/gemm_tiles_i8mm.hpp"
#include "kernels/variants.hpp"

namespace embert {

void gemm_s32_n16k4_i8mm(const GemmArgs& all) {
  if (all.m == 1) return gemm_s32_n16k4_dotprod(all);
  const GemmArgs args = all;  // a copy, which no store can change
  alignas(64) int8_t packed[kBytes];
  for (size_t i = 0; i < args.m; i += kBlockRows) {
    const size_t m = least(kBlockRows, args.m - i), most = most_inputs(m);
    const size_t chunks = (args.k + most - 1) / most;
    const size_t inputs = round_up((args.k + chunks - 1) / chunks, kGroup);
    for (size_t c = 0; c < args.k; c += inputs) {
      const Chunk chunk = {.i = i, .m = m, .c = c, .k = least(inputs, args.k - c), .lhs = packed};
      pack_rows(args, chunk);
      const size_t run = chunk.columns();
      for (size_t j = 0; j < args.n; j += run) {
        multiply_columns(args, chunk, j, least(run, args.n - j),
                         args.dst + i * args.dst_stride + j);
      }
    }
  }
}

}  // namespace embert
