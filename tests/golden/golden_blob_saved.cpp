// SPDX-License-Identifier: Apache-2.0
// Where the converter is not: the blobs that the desktop's golden_test made.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "tests/golden/golden_blob.hpp"

namespace embert::test {

std::string why_no_blob_of(const std::string& golden_case) {
  const std::string file = saved_golden_blob(golden_case);
  return std::filesystem::exists(file)
             ? ""
             : "no " + file + "; golden_test makes it where the converter is built: tests/run.sh";
}

const AlignedBytes& golden_blob(const std::string& golden_case) {
  static std::map<std::string, AlignedBytes> blobs;
  const auto known = blobs.find(golden_case);
  if (known != blobs.end()) return known->second;
  std::ifstream file(saved_golden_blob(golden_case), std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  return blobs
      .emplace(golden_case, AlignedBytes(std::vector<std::uint8_t>(bytes.begin(), bytes.end())))
      .first->second;
}

}  // namespace embert::test
