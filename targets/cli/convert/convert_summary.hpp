// SPDX-License-Identifier: Apache-2.0
// What `embert convert` says about the model it made: as lines, and as JSON for --report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "converter/convert.hpp"
#include "targets/cli/io/output.hpp"

namespace embert::cli {

/// Arena bytes by length, of a blob in memory.
std::map<uint32_t, size_t> arena_sizes_of_blob(const std::vector<uint8_t>& blob);

/// Where the new model may be worse than it needs to be: far from float32, or calibrated on little.
std::vector<std::string> quality_warnings(const convert::ConvertResult& result);

Json convert_report(const convert::ConvertResult& result, const std::string& rounding,
                    double seconds);

/// output: empty for a dry run.
void write_summary(const convert::ConvertResult& result, const std::string& output_path,
                   double seconds);

}  // namespace embert::cli
