// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/model/isa_choice.hpp"

#include "embert/embert.h"
#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::hosted {

/// ISA extensions, slowest first: a name allows all up to its own.
static constexpr uint32_t kIsasBySpeed[] = {
    EMBERT_ISA_AVX2,    EMBERT_ISA_AVXVNNI, EMBERT_ISA_AVX512_FREE_PIPES,
    EMBERT_ISA_AMXINT8, EMBERT_ISA_NEON,    EMBERT_ISA_DOTPROD,
    EMBERT_ISA_I8MM};

std::vector<std::string> isa_choices() {
  std::vector<std::string> names = {"auto", "scalar"};
  for (const uint32_t isa : kIsasBySpeed) names.push_back(embert_isa_name(isa));
  return names;
}

std::vector<std::string> runnable_isas() {
  std::vector<std::string> names = {"scalar"};
  const uint32_t machine = embert_isa_detect();
  for (const uint32_t isa : kIsasBySpeed) {
    if ((machine & isa) != 0) names.push_back(embert_isa_name(isa));
  }
  return names;
}

uint32_t isa_mask_of(const std::string& name) {
  if (name == "scalar") return EMBERT_ISA_SCALAR;
  const uint32_t machine = embert_isa_detect();
  if (name == "auto") return machine;
  uint32_t mask = EMBERT_ISA_SCALAR;
  std::string known = "scalar";
  for (const uint32_t isa : kIsasBySpeed) {
    const std::string isa_name = embert_isa_name(isa);
    if ((machine & isa) != 0) {
      mask |= machine & isa;
      known += ", " + isa_name;
      if (name == isa_name) return mask;
    }
  }
  throw UsageError("isa \"" + one_line(name) +
                   "\": not on this machine or not in this build, which has: " + known);
}

}  // namespace embert::hosted
