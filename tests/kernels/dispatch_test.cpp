// SPDX-License-Identifier: Apache-2.0
// The kernel table: a mask of ISA extensions gets the kernels of these extensions.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "kernels/dispatch.hpp"
#include "tests/kernels/kernel_variants.hpp"

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
  EXPECT_EQ(chosen(kIsaAvx2 | kIsaAvx512Vnni, "dense_residual"), "dense_residual_scalar");
  EXPECT_EQ(chosen(kIsaAvx512FreePipes & ~kIsaAvx512Vnni, "dense_residual"),
            "dense_residual_scalar");
  EXPECT_EQ(chosen(kIsaAvx512FreePipes, "dense_residual"), "dense_residual_avx512vnni");
  EXPECT_EQ(chosen(kIsaAvx512FreePipes, "gemm"), "gemm_s32_n16k4_avx512vnni");
#ifdef __x86_64__
  EXPECT_EQ(chosen(kIsaAvx2 | kIsaAvx512Vnni | kIsaAmxInt8, "gemm"), "gemm_s32_n16k4_amxint8");
  EXPECT_EQ(chosen(kIsaAvx2 | kIsaAvx512Vnni | kIsaAmxInt8, "softmax"),
            "softmax_u8_s32_avx512vnni");
#endif
}
#elif EMBERT_AARCH64
TEST(Dispatch, MasksGetTheBestOfTheirExtensions) {
  const auto chosen = [](uint32_t mask, const char* operation) {
    return chosen_kernels(select_kernels(mask))[operation];
  };
  EXPECT_EQ(chosen(kIsaNeon, "gemm"), "gemm_s32_n16k4_neon");
  EXPECT_EQ(chosen(kIsaNeon | kIsaDotprod, "gemm"), "gemm_s32_n16k4_dotprod");
  EXPECT_EQ(chosen(kIsaNeon | kIsaDotprod, "softmax"), "softmax_u8_s32_neon");
  EXPECT_EQ(chosen(kIsaNeon | kIsaDotprod, "dense_activation"), "dense_activation_dotprod");
  EXPECT_EQ(chosen(kIsaNeon | kIsaDotprod, "dense_residual"), "dense_residual_dotprod");
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

}  // namespace
}  // namespace embert
