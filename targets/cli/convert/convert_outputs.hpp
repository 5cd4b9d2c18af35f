// SPDX-License-Identifier: Apache-2.0
// Checks the files that `embert convert` writes: none may be an input, and no two may be the same.
#pragma once

#include <optional>
#include <string>

namespace embert::cli {

struct ConvertPaths {
  std::string folder;                                       ///< input
  std::optional<std::string> calibration, calibration_ids;  ///< inputs
  std::string model;                                        ///< output
  std::optional<std::string> report;                        ///< output
};

/// Called before the long work. Throws UsageError that names the file and the reason.
void check_outputs(const ConvertPaths& paths);

}  // namespace embert::cli
