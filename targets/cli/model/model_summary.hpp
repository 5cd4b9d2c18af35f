// SPDX-License-Identifier: Apache-2.0
// A model in words: what it is, what it can do, how exact it is, and the memory that it needs.
#pragma once

#include "targets/cli/tool_error.hpp"
#include "targets/hosted/line_text.hpp"
#include "targets/hosted/model/model_file.hpp"

namespace embert::cli {

/// Writes a line for each fact. inspection: of inspect_model(), with "sha256".
void write_model_summary(const ModelFile& file, const Json& inspection);

}  // namespace embert::cli
