// SPDX-License-Identifier: Apache-2.0
// Builds without converter: reads the blobs that golden_test of a build with converter saved.
#include <fstream>
#include <iterator>

#include "tests/golden/golden_blob.hpp"

namespace embert::test {

const bool kGoldenBlobsAreSaved = true;

std::vector<std::uint8_t> make_golden_blob(const std::string& golden_case) {
  std::ifstream file(saved_golden_blob(golden_case), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace embert::test
