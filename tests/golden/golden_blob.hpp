// SPDX-License-Identifier: Apache-2.0
// Cases of the reference data as blobs: converted here, or saved by a build with converter. Each
// blob is made once in a process.
#pragma once

#include <string>
#include <vector>

#include "tests/support/synthetic_blob.hpp"

namespace embert::test {

/// Why a case can not be tested; empty if it can.
std::string why_no_golden_blob(const std::string& golden_case);

inline std::string saved_golden_blob(const std::string& golden_case) {
  return std::string(EMBERT_GOLDEN_BLOBS "/") + golden_case + ".emb";
}
const AlignedBytes& golden_blob(const std::string& golden_case);

/// Defined in golden_blob_converted.cpp or in golden_blob_saved.cpp.
std::vector<std::uint8_t> make_golden_blob(const std::string& golden_case);
extern const bool kGoldenBlobsAreSaved;

/// Names of the cases with a decoder; {"no_data"} where there is no reference data.
std::vector<std::string> decoder_cases();

}  // namespace embert::test
