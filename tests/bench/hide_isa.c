/* SPDX-License-Identifier: Apache-2.0
 * Two preload libraries for Linux on x86-64. With hide_avx512 a program sees a processor of AVX2,
 * without AVX-512, AVX-VNNI and AMX: a server that has them compares embert and its peers as they
 * run on most laptops. With hide_amx (HIDE_AMX) it sees all but AMX, the matrix unit of Intel's
 * servers, which LiteRT and OpenVINO use. All of them ask CPUID which kernels may run. Intel's
 * processors let it fault (arch_prctl(2), ARCH_SET_CPUID; `cpuid_fault` in /proc/cpuinfo); on
 * others trap_cpuid.py writes UD2 over the CPUID instructions of copies of the programs. The
 * handler executes CPUID and clears the bits. glibc has chosen its own string functions before.
 *
 *   LD_PRELOAD=$PWD/build/release/tests/bench/libhide_amx.so tests/bench/compare_peers.py ...
 *
 * Bits: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID, leaf 7.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { kSetCpuid = 0x1012, kFaults = 0, kExecutes = 1, kCpuidBytes = 2 };

// Leaf 7, subleaf 0, EDX: AMX-BF16, AMX-TILE, AMX-INT8.
static const uint32_t kAmx = 1u << 22 | 1u << 24 | 1u << 25;
#ifdef HIDE_AMX
static const uint32_t kHiddenEbx = 0, kHiddenEcx = 0, kHiddenEdx = kAmx, kHidesSubleaf1 = 0;
#else
// Subleaf 0. EBX: AVX512F, DQ, IFMA, PF, ER, CD, BW, VL. ECX: VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ.
// EDX: 4VNNIW, 4FMAPS, VP2INTERSECT, AVX512-FP16.
static const uint32_t kHiddenEbx =
    1u << 16 | 1u << 17 | 1u << 21 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 30 | 1u << 31;
static const uint32_t kHiddenEcx = 1u << 1 | 1u << 6 | 1u << 11 | 1u << 12 | 1u << 14;
static const uint32_t kHiddenEdx = kAmx | 1u << 2 | 1u << 3 | 1u << 8 | 1u << 23;
// Subleaves from 1 on: AVX-VNNI, AVX512-BF16, AVX-VNNI-INT8, AVX10. All are later than AVX2.
static const uint32_t kHidesSubleaf1 = 1;
#endif

static void execute_cpuid(int signal_number, siginfo_t* info, void* context) {
  greg_t* const registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  const uint8_t* const code = (const uint8_t*)registers[REG_RIP];
  const int is_cpuid = signal_number == SIGSEGV && info->si_code == SI_KERNEL && code[1] == 0xa2;
  const int is_ud2 = signal_number == SIGILL && code[1] == 0x0b;
  if (code[0] != 0x0f || !(is_cpuid || is_ud2)) {
    // A fault of the program's own: the instruction runs again and ends it.
    signal(signal_number, SIG_DFL);
    return;
  }
  const uint32_t leaf = (uint32_t)registers[REG_RAX];
  const uint32_t subleaf = (uint32_t)registers[REG_RCX];
  uint32_t a, b, c, d;
  syscall(SYS_arch_prctl, kSetCpuid, kExecutes);
  __asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(leaf), "c"(subleaf));
  syscall(SYS_arch_prctl, kSetCpuid, kFaults);
  if (leaf == 7 && subleaf == 0) {
    b &= ~kHiddenEbx;
    c &= ~kHiddenEcx;
    d &= ~kHiddenEdx;
  } else if (leaf == 7 && kHidesSubleaf1) {
    a = b = c = d = 0;
  }
  registers[REG_RAX] = a;
  registers[REG_RBX] = b;
  registers[REG_RCX] = c;
  registers[REG_RDX] = d;
  registers[REG_RIP] += kCpuidBytes;
}

// Threads inherit the fault, programs that exec starts do not: each of them loads this library.
__attribute__((constructor)) static void hide(void) {
  struct sigaction action = {.sa_sigaction = execute_cpuid, .sa_flags = SA_SIGINFO | SA_NODEFER};
  if (sigaction(SIGILL, &action, NULL) != 0 || sigaction(SIGSEGV, &action, NULL) != 0) {
    perror("hide_isa: sigaction");
    exit(1);
  }
  if (syscall(SYS_arch_prctl, kSetCpuid, kFaults) != 0 && getenv("EMBERT_CPUID_TRAPPED") == NULL) {
    fprintf(stderr,
            "hide_isa: CPUID does not fault here; run copies that trap_cpuid.py has changed, "
            "with EMBERT_CPUID_TRAPPED=1\n");
    exit(1);
  }
}
