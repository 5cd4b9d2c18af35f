// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/golden_blob.hpp"

#include <filesystem>
#include <map>

#include "converter/import/json_file.hpp"
#include "tests/golden/golden_case.hpp"

namespace embert::test {
namespace {

bool decodes(const std::string& golden_case) {
  const convert::Json config = convert::read_json_file(
      golden_folder(EMBERT_SHARED_DIR, golden_case) / "config.json", "config.json");
  return config.value("is_decoder", false) || config.value("is_encoder_decoder", false);
}

std::vector<std::string> or_no_data(std::vector<std::string> names) {
  if (names.empty()) names.emplace_back("no_data");
  return names;
}

}  // namespace

std::string why_no_golden_blob(const std::string& golden_case) {
  const std::filesystem::path folder = golden_folder(EMBERT_SHARED_DIR, golden_case);
  if (!std::filesystem::exists(folder)) return "no reference data at " + folder.string();
  const std::string file = saved_golden_blob(golden_case);
  if (!kGoldenBlobsAreSaved || std::filesystem::exists(file)) return "";
  return "no " + file + "; golden_test makes it where the converter is built: tests/run.sh";
}

const AlignedBytes& golden_blob(const std::string& golden_case) {
  static std::map<std::string, AlignedBytes> blobs;
  const auto known = blobs.find(golden_case);
  if (known != blobs.end()) return known->second;
  return blobs.emplace(golden_case, AlignedBytes(make_golden_blob(golden_case))).first->second;
}

std::vector<std::string> all_cases() { return or_no_data(golden_cases(EMBERT_SHARED_DIR)); }

std::vector<std::string> decoder_cases() {
  std::vector<std::string> names = golden_cases(EMBERT_SHARED_DIR);
  std::erase_if(names, [](const std::string& name) { return !decodes(name); });
  return or_no_data(names);
}

}  // namespace embert::test
