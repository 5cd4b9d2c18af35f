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

}  // namespace

std::string why_no_golden_blob(const std::string& golden_case) {
  const std::string why_not = why_no_golden_case(EMBERT_SHARED_DIR, golden_case);
  if (!why_not.empty()) return why_not;
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

std::vector<std::string> decoder_cases() {
  std::vector<std::string> names = golden_cases(EMBERT_SHARED_DIR);
  std::erase_if(names, [](const std::string& name) { return !decodes(name); });
  if (names.empty()) names.emplace_back("no_data");
  return names;
}

}  // namespace embert::test
