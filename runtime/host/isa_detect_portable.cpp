// SPDX-License-Identifier: Apache-2.0
// embert_isa_detect without cpuinfo: on x86 what the compiler's own look-up finds, which includes
// the register state that the operating system saves. Not every compiler knows AVX-VNNI there,
// whose processors run the AVX2 kernels.
#include "embert/embert.h"
#include "kernels/config.hpp"
#include "kernels/dispatch.hpp"

namespace {

#if EMBERT_X86
uint32_t machine_isas() {
  __builtin_cpu_init();
  uint32_t mask = EMBERT_ISA_SCALAR;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("sse4.2")) return mask;
  mask |= EMBERT_ISA_AVX2;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vnni")) {
    mask |= EMBERT_ISA_AVX512VNNI;
  }
  return mask;
}
#else
uint32_t machine_isas() { return EMBERT_ISA_SCALAR; }
#endif

}  // namespace

uint32_t embert_isa_detect(void) { return machine_isas() & embert::compiled_isas(); }
