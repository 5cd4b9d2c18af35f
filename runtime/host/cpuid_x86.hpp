// SPDX-License-Identifier: Apache-2.0
// The instruction CPUID, for what libraries do not tell. Leaves and bits: Intel 64 and IA-32
// Architectures Software Developer's Manual, volume 2A, CPUID.
#pragma once

#include <cpuid.h>
#include <stdint.h>

namespace embert {

struct CpuidLeaf {
  uint32_t eax, ebx, ecx, edx;
};

/// All zeros when the processor does not have the leaf.
inline CpuidLeaf cpuid(uint32_t leaf, uint32_t subleaf) {
  CpuidLeaf found = {};
  if (__get_cpuid_count(leaf, subleaf, &found.eax, &found.ebx, &found.ecx, &found.edx) == 0) {
    return {};
  }
  return found;
}

/// AVX-VNNI needs no registers beyond those of AVX2. Leaf 7 tells its last subleaf in EAX.
inline bool has_avxvnni() { return cpuid(7, 0).eax >= 1 && (cpuid(7, 1).eax >> 4 & 1) != 0; }

/// AMD processors from Zen 5 (family 0x1a) on: dense layers in one step pay there
/// (kernels/contracts/dense.hpp). vendor: leaf 0; signature: EAX of leaf 1.
inline bool is_amd_from_zen5(const CpuidLeaf& vendor, uint32_t signature) {
  const bool is_amd =
      vendor.ebx == 0x68747541 && vendor.edx == 0x69746e65 && vendor.ecx == 0x444d4163;
  const uint32_t family = signature >> 8 & 15, extended = signature >> 20 & 255;
  return is_amd && family == 15 && family + extended >= 0x1a;
}

}  // namespace embert
