// SPDX-License-Identifier: Apache-2.0
// Of kernel_test alone, which runs the kernels with the instructions that the machine has.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "kernels/dispatch.hpp"
#include "kernels/processor.hpp"
#include "tests/kernels/kernel_variants.hpp"

#if EMBERT_X86
#include "runtime/host/cpuid_x86.hpp"
#elif EMBERT_ARMV7 && defined(__linux__)
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace embert {
namespace {

const bool announced = announce_kernels("native: scalar", runnable_isas());

#if EMBERT_X86 && defined(__linux__)
/// Linux lists the features of the processor that it lets programs use.
bool linux_lists(const std::string& feature) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string word; file >> word;) {
    if (word == feature) return true;
  }
  return false;
}
#endif

#if EMBERT_X86
// Leaf 0 as processors report it.
TEST(Detection, KnowsAmd) {
  EXPECT_TRUE(is_amd({16, 0x68747541, 0x444d4163, 0x69746e65}));   // AuthenticAMD
  EXPECT_FALSE(is_amd({32, 0x756e6547, 0x6c65746e, 0x49656e69}));  // GenuineIntel
  EXPECT_FALSE(is_amd({}));
}
#endif

#if defined(__linux__)
// embert_isa_detect against a second source: the compiler's own detection, the identification
// registers that Linux shows to programs, or a process that tries an instruction.
TEST(Detection, AgreesWithTheMachine) {
#if EMBERT_X86
  const uint32_t isas = runnable_isas(), compiled = compiled_isas();
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("sse4.2");
  const bool avx512 = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
  EXPECT_EQ((isas & kIsaAvx2) != 0, avx2 && (compiled & kIsaAvx2) != 0);
  EXPECT_EQ((isas & kIsaAvx512Vnni) != 0, avx512 && (compiled & kIsaAvx512Vnni) != 0);
  EXPECT_TRUE((isas & kIsaAvxVnni) == 0 || avx2);
  EXPECT_EQ((embert_isa_detect() & kIsaAvx512FreePipes) == kIsaAvx512FreePipes,
            is_amd(cpuid(0, 0)) && (isas & kIsaAvx512Vnni) != 0);
  // Linux lists AMX where it can save the tiles, and gives them to a test program, whose threads
  // have no small signal stacks.
  EXPECT_EQ((isas & kIsaAmxInt8) != 0,
            avx512 && linux_lists("amx_int8") && (compiled & kIsaAmxInt8) != 0);
#elif EMBERT_AARCH64
  uint64_t features = 0, more = 0;  // ID_AA64ISAR0_EL1 and ID_AA64ISAR1_EL1
  asm("mrs %0, s3_0_c0_c6_0" : "=r"(features));
  asm("mrs %0, s3_0_c0_c6_1" : "=r"(more));
  const bool dotprod = (features >> 44 & 15) != 0 && (features >> 16 & 15) != 0;
  const bool i8mm = dotprod && (more >> 52 & 15) != 0;
  EXPECT_EQ(runnable_isas(), static_cast<uint32_t>(kIsaNeon) | (dotprod ? kIsaDotprod : 0u) |
                                 (i8mm ? kIsaI8mm : 0u));
#elif EMBERT_ARMV7
  const pid_t child = fork();
  if (child == 0) {
    asm volatile(".fpu neon\n vorr q0, q0, q0");
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(runnable_isas(), static_cast<uint32_t>(WIFEXITED(status) ? kIsaNeon : kIsaScalar));
#else
  EXPECT_EQ(runnable_isas(), static_cast<uint32_t>(kIsaScalar));
#endif
}
#endif

}  // namespace
}  // namespace embert
