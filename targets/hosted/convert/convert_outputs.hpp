// SPDX-License-Identifier: Apache-2.0
// Checks the files that a conversion writes: none may be an input, and no two may be the same.
#pragma once

#include <optional>
#include <string>

namespace embert::hosted {

struct ConvertPaths {
  std::string folder;                                       ///< input
  std::optional<std::string> calibration, calibration_ids;  ///< inputs
  std::optional<std::string> keep_vocabulary;               ///< input
  std::string model;                                        ///< output
  std::optional<std::string> report;                        ///< output
};

/// Called before the long work. Throws WriteError for a file that cannot be written, UsageError for
/// one that is an input; both name the file and the reason.
void check_outputs(const ConvertPaths& paths);

}  // namespace embert::hosted
