// SPDX-License-Identifier: Apache-2.0
// The summary of a conversion: lines for stdout, and JSON for --report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "targets/cli/io/output.hpp"

namespace embert::convert {
struct ConvertResult;
}

namespace embert::cli {

/// Returns the arena bytes by length in tokens of a blob in memory.
std::map<uint32_t, size_t> arena_sizes_of_blob(const std::vector<uint8_t>& blob);

/// Warns if the new model is far from float32 or was calibrated on few texts.
std::vector<std::string> quality_warnings(const convert::ConvertResult& result);

Json convert_report(const convert::ConvertResult& result, const std::string& rounding,
                    double seconds);

/// output_path: empty for a dry run.
void write_summary(const convert::ConvertResult& result, const std::string& output_path,
                   double seconds);

}  // namespace embert::cli
