// SPDX-License-Identifier: Apache-2.0
// Cases of the reference data as blobs: converted, or what a build with converter saved. Each once
// a process.
#pragma once

#include <string>
#include <vector>

#include "tests/support/synthetic_blob.hpp"

namespace embert::test {

/// Why a case can not be tested; empty: it can.
std::string why_no_golden_blob(const std::string& golden_case);

inline std::string saved_golden_blob(const std::string& golden_case) {
  return std::string(EMBERT_GOLDEN_BLOBS "/") + golden_case + ".emb";
}
const AlignedBytes& golden_blob(const std::string& golden_case);

/// By golden_blob_converted.cpp or golden_blob_saved.cpp.
std::vector<std::uint8_t> make_golden_blob(const std::string& golden_case);
extern const bool kGoldenBlobsAreSaved;

/// Names of all cases, or of those that decode; for want of any (no reference data) "no_data".
std::vector<std::string> all_cases();
std::vector<std::string> decoder_cases();

}  // namespace embert::test
