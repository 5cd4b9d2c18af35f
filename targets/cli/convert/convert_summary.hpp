// SPDX-License-Identifier: Apache-2.0
// The summary of a conversion: lines for stdout.
#pragma once

#include <string>

namespace embert::convert {
struct ConvertResult;
}

namespace embert::cli {

/// output_path: empty for a dry run.
void write_summary(const convert::ConvertResult& result, const std::string& output_path,
                   double seconds);

}  // namespace embert::cli
