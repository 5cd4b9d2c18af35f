// SPDX-License-Identifier: Apache-2.0
// Cases of the reference data as blobs, each converted once a process.
#pragma once

#include <string>
#include <vector>

#include "tests/support/synthetic_blob.hpp"

namespace embert::test {

const AlignedBytes& golden_blob(const std::string& golden_case);

/// Names of all cases, or of those that decode; for want of any (no reference data) "no_data".
std::vector<std::string> all_cases();
std::vector<std::string> decoder_cases();

}  // namespace embert::test
