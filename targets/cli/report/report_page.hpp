// SPDX-License-Identifier: Apache-2.0
// A report as one HTML page that needs nothing else: no script, no font, no network.
#pragma once

#include <string>

#include "targets/hosted/line_text.hpp"

namespace embert::cli {

/// `command`: the one that made the JSON, "convert" or "verify". Every number of the page is one of
/// the JSON or follows from such numbers; every number of the JSON is on the page.
std::string report_page(const std::string& command, const hosted::Json& data);

}  // namespace embert::cli
