// SPDX-License-Identifier: Apache-2.0
// The ISA extensions of this machine. On x86 the processor tells its features, and which registers
// the operating system saves at a task switch: without these the instructions fault. On ARM the
// Linux kernel reports the hardware capabilities. No file is read. cpuinfo is not used: the one
// that distributions ship (2022) knows neither AVX-VNNI nor I8MM, ends the process where files of
// /sys/devices/system/cpu open but do not read, and fails where /proc/cpuinfo belongs to another
// machine, as under an emulator.
#include "embert/embert.h"
#include "kernels/dispatch.hpp"
#include "kernels/processor.hpp"

#if EMBERT_X86
#include "runtime/host/cpuid_x86.hpp"
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif (EMBERT_AARCH64 || EMBERT_ARMV7) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace {

#if EMBERT_X86
bool all_bits(uint64_t value, uint64_t bits) { return (value & bits) == bits; }

// XCR0: a bit for each group of registers that the operating system saves.
uint64_t saved_registers() {
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

// Linux gives the tile registers of AMX to a process that asks (Documentation/arch/x86/xstate.rst),
// and to all its threads. From then on it refuses signal stacks (sigaltstack) of less than
// AT_MINSIGSTKSZ, 12 KB; where a thread has a smaller one, it refuses the tiles.
bool gets_tiles() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // <asm/prctl.h>, XCR0
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

uint32_t machine_isas() {
  constexpr uint64_t kSse42 = 1u << 20, kXgetbv = 1u << 27, kAvx = 1u << 28;      // leaf 1, ECX
  constexpr uint64_t kAvx2 = 1u << 5, kAvx512F = 1u << 16, kAvx512Dq = 1u << 17,  // leaf 7, EBX
      kAvx512Bw = 1u << 30, kAvx512Vl = 1u << 31;
  constexpr uint64_t kAvx512Vnni = 1u << 11;                    // leaf 7, ECX
  constexpr uint64_t kAmxTile = 1u << 24, kAmxInt8 = 1u << 25;  // leaf 7, EDX
  constexpr uint64_t kSavesAvx = 0x6, kSavesAvx512 = 0xe6,      // XCR0: SSE, AVX; masks, ZMM;
      kSavesTiles = 0x60000;                                    // tiles
  constexpr uint32_t kOfAmd = EMBERT_ISA_AVX512_FREE_PIPES, kOfOthers = EMBERT_ISA_AVX512VNNI;

  if (!all_bits(embert::cpuid(1, 0).ecx, kSse42 | kXgetbv | kAvx)) return EMBERT_ISA_SCALAR;
  const embert::CpuidLeaf features = embert::cpuid(7, 0);
  const uint64_t saved = saved_registers();
  if (!all_bits(features.ebx, kAvx2) || !all_bits(saved, kSavesAvx)) return EMBERT_ISA_SCALAR;

  uint32_t mask = EMBERT_ISA_AVX2;
  if (embert::has_avxvnni()) mask |= EMBERT_ISA_AVXVNNI;
  if (all_bits(features.ebx, kAvx512F | kAvx512Dq | kAvx512Bw | kAvx512Vl) &&
      all_bits(features.ecx, kAvx512Vnni) && all_bits(saved, kSavesAvx512)) {
    mask |= embert::is_amd(embert::cpuid(0, 0)) ? kOfAmd : kOfOthers;
    const bool has_tiles =
        all_bits(features.edx, kAmxTile | kAmxInt8) && all_bits(saved, kSavesTiles);
    if (has_tiles && gets_tiles()) mask |= EMBERT_ISA_AMXINT8;
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
