// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/usage/version.hpp"

#include "embert/embert.h"
#include "targets/hosted/model/isa_choice.hpp"

namespace embert::cli {

static const char* const kCompiler =
#if defined(__clang__)
    "clang " __clang_version__;
#else
    "GCC " __VERSION__;
#endif

std::string version_text() {
  std::string kernels;
  for (const std::string& name : hosted::runnable_isas()) {
    kernels += (kernels.empty() ? "" : ", ") + name;
  }
  return std::string("embert ") + embert_version() + "\nbuild: " + kCompiler + ", " +
         EMBERT_BUILD_TYPE + ", " +
         (EMBERT_HAS_CONVERTER ? "with the converter" : "without the converter") +
         "\nkernels that run here: " + kernels;
}

}  // namespace embert::cli
