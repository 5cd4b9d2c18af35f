// SPDX-License-Identifier: Apache-2.0
// Builds with converter: makes the blobs, and saves them for builds without converter.
#include <filesystem>
#include <stdexcept>

#include "converter/convert.hpp"
#include "converter/export/replace_file.hpp"
#include "embert/embert.h"
#include "tests/golden/golden_blob.hpp"
#include "tests/golden/golden_case.hpp"

namespace embert::test {

const bool kGoldenBlobsAreSaved = false;

std::vector<std::uint8_t> make_golden_blob(const std::string& golden_case) {
  convert::ConvertOptions options;
  options.folder = golden_folder(EMBERT_SHARED_DIR, golden_case);
  options.threads = 2;
  options.isa_mask = embert_isa_detect();
  options.certify = false;
  const convert::ConvertResult converted = convert::convert(options);
  const bool tokenizer = std::filesystem::exists(options.folder / "tokenizer.json");
  if ((converted.source == convert::CalibrationSource::kRandomIds) == tokenizer)
    throw std::runtime_error(golden_case + " was not calibrated as its folder says");
  std::filesystem::create_directories(EMBERT_GOLDEN_BLOBS);
  convert::replace_file(saved_golden_blob(golden_case), converted.blob);
  return converted.blob;
}

}  // namespace embert::test
