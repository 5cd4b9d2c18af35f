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

/// A processor of AMD: those with AVX-512, Zen 4 and later, gain from dense layers in one step
/// (kernels/contracts/dense.hpp). vendor: leaf 0.
inline bool is_amd(const CpuidLeaf& vendor) {
  return vendor.ebx == 0x68747541 && vendor.edx == 0x69746e65 && vendor.ecx == 0x444d4163;
}

}  // namespace embert
