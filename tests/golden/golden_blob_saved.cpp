// SPDX-License-Identifier: Apache-2.0
// Where the converter is not: the blobs that the desktop's golden_test made.
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
