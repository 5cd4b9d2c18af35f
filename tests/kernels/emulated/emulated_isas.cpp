// SPDX-License-Identifier: Apache-2.0
// embert_isa_detect of the programs with emulated kernels, in place of runtime/host/isa_detect.cpp.
#include "embert/embert.h"

uint32_t embert_isa_detect(void) {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("sse4.2");
  return EMBERT_ISA_AVXVNNI | EMBERT_ISA_AVX512VNNI | EMBERT_ISA_AMXINT8 |
         (avx2 ? EMBERT_ISA_AVX2 : EMBERT_ISA_SCALAR);
}
