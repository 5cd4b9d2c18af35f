// SPDX-License-Identifier: Apache-2.0
// The kernel table: a mask of ISA extensions gets the kernels of these extensions.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "kernels/dispatch.hpp"
#include "tests/kernels/kernel_variants.hpp"

#if EMBERT_ARMV7 && defined(__linux__)
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace embert {
namespace {

// The name behind each pointer of a table.
std::map<std::string, std::string> chosen_kernels(const Kernels& kernels) {
  std::map<std::string, std::string> chosen;
#define EMBERT_KERNEL(operation, type_name, kernel, extension) \
  if (kernels.operation == kernel) chosen[#operation] = #kernel;
#include "kernels/variants.inc"
#undef EMBERT_KERNEL
  return chosen;
}

#if EMBERT_X86
TEST(Dispatch, MasksGetTheBestOfTheirExtensions) {
  const auto chosen = [](uint32_t mask, const char* operation) {
    return chosen_kernels(select_kernels(mask))[operation];
  };
  EXPECT_EQ(chosen(kIsaAvx2, "gemm"), "gemm_s32_n16k4_avx2");
  EXPECT_EQ(chosen(kIsaAvx2 | kIsaAvxVnni, "gemm"), "gemm_s32_n16k4_avxvnni");
  EXPECT_EQ(chosen(kIsaAvx2 | kIsaAvxVnni, "softmax"), "softmax_u8_s32_avx2");
  EXPECT_EQ(chosen(kIsaAvx2 | kIsaAvx512Vnni, "gemm"), "gemm_s32_n16k4_avx512vnni");
  EXPECT_EQ(chosen(kIsaAvx2 | kIsaAvx512Vnni, "crc32c"), "crc32c_avx2");
  EXPECT_EQ(chosen(kIsaAvx512Vnni, "crc32c"), "crc32c_scalar");
  EXPECT_EQ(chosen(kIsaAvxVnni, "softmax"), "softmax_u8_s32_scalar");
  EXPECT_EQ(chosen(kIsaAvx2 | kIsaAvxVnni | kIsaAvx512Vnni, "softmax"),
            "softmax_u8_s32_avx512vnni");
}
#elif EMBERT_AARCH64
TEST(Dispatch, MasksGetTheBestOfTheirExtensions) {
  const auto chosen = [](uint32_t mask, const char* operation) {
    return chosen_kernels(select_kernels(mask))[operation];
  };
  EXPECT_EQ(chosen(kIsaNeon, "gemm"), "gemm_s32_n16k4_neon");
  EXPECT_EQ(chosen(kIsaNeon | kIsaDotprod, "gemm"), "gemm_s32_n16k4_dotprod");
  EXPECT_EQ(chosen(kIsaNeon | kIsaDotprod, "softmax"), "softmax_u8_s32_neon");
  EXPECT_EQ(chosen(kIsaNeon | kIsaDotprod | kIsaI8mm, "gemm"), "gemm_s32_n16k4_i8mm");
  EXPECT_EQ(chosen(kIsaNeon | kIsaDotprod | kIsaI8mm, "dot_rows"), "dot_rows_dotprod");
  EXPECT_EQ(chosen(kIsaNeon, "crc32c"), "crc32c_scalar");
  EXPECT_EQ(chosen(kIsaI8mm, "softmax"), "softmax_u8_s32_scalar");
}
#endif

TEST(Dispatch, NoExtensionMeansScalar) {
  for (const auto& [operation, kernel] : chosen_kernels(select_kernels(0))) {
    EXPECT_NE(kernel.find("_scalar"), std::string::npos) << operation << " is " << kernel;
  }
  EXPECT_EQ(chosen_kernels(select_kernels(0)).size(), sizeof(Kernels) / sizeof(GemmFn));
  EXPECT_STREQ(isa_name(0), "scalar");
}

// A mask of one extension runs code of that extension, not of a better or worse one.
TEST(Dispatch, GemmOfOneExtensionIsItsOwn) {
  for (const KernelVariant<GemmFn>& variant : variants_of(&Kernels::gemm)) {
    const std::string suffix = std::string("_") + isa_name(variant.isa);
    EXPECT_EQ(std::string(variant.name), "gemm_s32_n16k4" + suffix);
    EXPECT_EQ(select_kernels(variant.isa).gemm, variant.function) << variant.name;
  }
}

TEST(Dispatch, NamesEndInTheirExtension){
#define EMBERT_KERNEL(operation, type_name, kernel, extension)                          \
  {                                                                                     \
    const std::string name = #kernel, suffix = std::string("_") + isa_name(extension);  \
    EXPECT_EQ(name.substr(name.size() - std::min(name.size(), suffix.size())), suffix); \
  }
#include "kernels/variants.inc"
#undef EMBERT_KERNEL
}

TEST(Dispatch, LaterRowsAreBetterExtensions) {
  std::map<std::string, uint32_t> last;
#define EMBERT_KERNEL(operation, type_name, kernel, extension)                         \
  EXPECT_TRUE(last.count(#operation) == 0 || last[#operation] < extension) << #kernel; \
  last[#operation] = extension;
#include "kernels/variants.inc"
#undef EMBERT_KERNEL
}

#if defined(__linux__)
// embert_isa_detect against a second source: the compiler's own detection, the identification
// registers that Linux shows to programs, or a process that tries an instruction.
TEST(Dispatch, DetectionAgreesWithTheMachine) {
#if EMBERT_X86
  const uint32_t isas = runnable_isas(), compiled = compiled_isas();
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("sse4.2");
  const bool avx512 = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
  EXPECT_EQ((isas & kIsaAvx2) != 0, avx2 && (compiled & kIsaAvx2) != 0);
  EXPECT_EQ((isas & kIsaAvx512Vnni) != 0, avx512 && (compiled & kIsaAvx512Vnni) != 0);
  EXPECT_TRUE((isas & kIsaAvxVnni) == 0 || avx2);
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
