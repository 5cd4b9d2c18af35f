// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/kernel_variants.hpp"

#include <cstdio>
#include <set>
#include <string>

#include "embert/embert.h"
#include "kernels/dispatch.hpp"

namespace embert {

uint32_t runnable_isas() { return embert_isa_detect(); }

void report_missing_isa(const char* variant, uint32_t isa) {
  static std::set<std::string> reported;
  if (reported.insert(variant).second) {
    std::printf("[  SKIPPED ] %s: this machine has no %s\n", variant, isa_name(isa));
  }
}

}  // namespace embert
