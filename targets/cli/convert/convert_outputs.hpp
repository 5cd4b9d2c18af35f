// SPDX-License-Identifier: Apache-2.0
// Where `embert convert` may write: nowhere that it reads, and no two things to one place.
#pragma once

#include <optional>
#include <string>

namespace embert::cli {

struct ConvertPaths {
  std::string folder, output;
  std::optional<std::string> calibration, calibration_ids, report;
};

/// Before the long work. Throws UsageError that names the output which cannot be one.
void check_outputs(const ConvertPaths& paths);

}  // namespace embert::cli
