// SPDX-License-Identifier: Apache-2.0
// The ISA extensions of this machine. cpuinfo reads the processor, and which registers (AVX,
// AVX-512) the operating system saves at a task switch. The cpuinfo that distributions ship (2022)
// does not know AVX-VNNI, so this file reads that bit itself.

#include "embert/embert.h"
#include "kernels/dispatch.hpp"
#include "kernels/processor.hpp"

#if EMBERT_X86
#include <cpuinfo.h>

#include "runtime/host/cpuid_x86.hpp"
#endif

namespace {

#if EMBERT_X86
uint32_t machine_isas() {
  uint32_t mask = EMBERT_ISA_SCALAR;
  // cpuinfo fails on processors that it does not know; the scalar kernels run everywhere.
  if (!cpuinfo_initialize()) return mask;
  if (!cpuinfo_has_x86_avx2() || !cpuinfo_has_x86_sse4_2()) return mask;
  mask |= EMBERT_ISA_AVX2;
  if (embert::has_avxvnni()) mask |= EMBERT_ISA_AVXVNNI;
  if (cpuinfo_has_x86_avx512f() && cpuinfo_has_x86_avx512bw() && cpuinfo_has_x86_avx512dq() &&
      cpuinfo_has_x86_avx512vl() && cpuinfo_has_x86_avx512vnni()) {
    mask |= EMBERT_ISA_AVX512VNNI;
  }
  return mask;
}
#else
uint32_t machine_isas() { return EMBERT_ISA_SCALAR; }
#endif

}  // namespace

uint32_t embert_isa_detect(void) { return machine_isas() & embert::compiled_isas(); }
