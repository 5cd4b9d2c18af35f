// SPDX-License-Identifier: Apache-2.0
// embert_isa_detect without cpuinfo. On x86 it uses the compiler's own look-up, which also checks
// the registers that the operating system saves. Not every compiler knows AVX-VNNI there;
// processors with it run the AVX2 kernels. On ARM it reads the hardware capabilities that the Linux
// kernel reports. ARM builds never use cpuinfo: the one that distributions ship (2022) does not
// know I8MM, and it fails where /proc/cpuinfo belongs to another machine, as under an emulator.
#include "embert/embert.h"
#include "kernels/dispatch.hpp"
#include "kernels/processor.hpp"

#if (EMBERT_AARCH64 || EMBERT_ARMV7) && defined(__linux__)
#include <sys/auxv.h>
#endif

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
#elif EMBERT_AARCH64 && defined(__linux__)
// Bits of the Linux interface by number: headers older than the processor lack the names.
uint32_t machine_isas() {
  const unsigned long features = getauxval(AT_HWCAP), more = getauxval(AT_HWCAP2);
  const bool simd = (features & (1ul << 1)) != 0, crc32 = (features & (1ul << 7)) != 0;
  const bool dotprod = (features & (1ul << 20)) != 0, i8mm = (more & (1ul << 13)) != 0;
  uint32_t mask = EMBERT_ISA_SCALAR;
  if (simd) mask |= EMBERT_ISA_NEON;
  if (simd && crc32 && dotprod) mask |= EMBERT_ISA_DOTPROD;
  if (simd && dotprod && i8mm) mask |= EMBERT_ISA_I8MM;
  return mask;
}
#elif EMBERT_AARCH64
uint32_t machine_isas() { return EMBERT_ISA_NEON; }  // part of the architecture
#elif EMBERT_ARMV7 && defined(__linux__)
uint32_t machine_isas() {
  return (getauxval(AT_HWCAP) & (1ul << 12)) != 0 ? EMBERT_ISA_NEON : EMBERT_ISA_SCALAR;
}
#else
uint32_t machine_isas() { return EMBERT_ISA_SCALAR; }
#endif

}  // namespace

uint32_t embert_isa_detect(void) { return machine_isas() & embert::compiled_isas(); }
