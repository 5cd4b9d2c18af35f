// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/golden_blob.hpp"

#include <map>
#include <stdexcept>

#include "converter/convert.hpp"
#include "converter/json_file.hpp"
#include "tests/support/golden_case.hpp"

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

const AlignedBytes& golden_blob(const std::string& golden_case) {
  static std::map<std::string, AlignedBytes> blobs;
  const auto known = blobs.find(golden_case);
  if (known != blobs.end()) return known->second;
  convert::ConvertOptions options;
  options.folder = golden_folder(EMBERT_SHARED_DIR, golden_case);
  options.threads = 2;
  options.certify = false;
  const convert::ConvertResult converted = convert::convert(options);
  if (converted.source != convert::CalibrationSource::kRandomIds)
    throw std::runtime_error(golden_case + " was not calibrated on random ids");
  return blobs.emplace(golden_case, AlignedBytes(converted.blob)).first->second;
}

std::vector<std::string> all_cases() { return or_no_data(golden_cases(EMBERT_SHARED_DIR)); }

std::vector<std::string> decoder_cases() {
  std::vector<std::string> names = golden_cases(EMBERT_SHARED_DIR);
  std::erase_if(names, [](const std::string& name) { return !decodes(name); });
  return or_no_data(names);
}

}  // namespace embert::test
