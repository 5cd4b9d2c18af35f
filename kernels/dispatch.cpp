// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch.hpp"

#include "kernels/built_families.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr bool is_same(const char* a, const char* b) {
  while (*a != 0 && *a == *b) {
    ++a;
    ++b;
  }
  return *a == *b;
}

// A kernel that nobody calls must not be in the table, or the linker keeps it.
constexpr bool is_called(const char* operation) {
  const bool of_modernbert = is_same(operation, "rotate") ||
                             is_same(operation, "requantize_gate") ||
                             is_same(operation, "mask_distant");
  return kHasModernBert || !of_modernbert;
}

}  // namespace

uint32_t compiled_isas() {
  uint32_t mask = 0;
#define EMBERT_KERNEL(operation, type_name, function, isa) mask |= isa;
#include "kernels/variants.inc"
#undef EMBERT_KERNEL
  return mask;
}

Kernels select_kernels(uint32_t isa_mask) {
  Kernels kernels = {};
#define EMBERT_KERNEL(operation, type_name, function, isa)     \
  if constexpr (is_called(#operation)) {                       \
    if ((isa_mask & isa) == isa) kernels.operation = function; \
  }
#include "kernels/variants.inc"
#undef EMBERT_KERNEL
  return kernels;
}

const char* isa_name(uint32_t isa_mask) {
  const char* name = "scalar";
  for (const IsaExtension& extension : kIsaExtensions) {
    if ((isa_mask & extension.isa) != 0) name = extension.name;
  }
  return name;
}

}  // namespace embert
