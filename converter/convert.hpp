// SPDX-License-Identifier: Apache-2.0
// The converter as one call: a Hugging Face folder in, the bytes of a blob out. Nothing is printed
// and no file is written (see replace_file.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "converter/calibrate/tokens/gather_tokens.hpp"
#include "converter/export/write_blob.hpp"
#include "converter/quantize/quantize_model.hpp"

namespace embert::convert {

struct ConvertOptions {
  std::filesystem::path folder;
  /// Texts, one a line, instead of the built-in ones; or token ids, one text a line. Not both.
  std::optional<std::filesystem::path> calibration_texts, calibration_ids;
  Rounding rounding = Rounding::kErrorCompensated;
  std::optional<int> max_tokens;
  int threads = 1;
  /// Kernels for the certificate, EMBERT_ISA_*; the bytes do not depend on them.
  std::uint32_t isa_mask = 0;
  /// Compare with the float model on texts that calibration has not seen.
  bool certify = true;
  Progress progress;
};

struct ConvertResult {
  std::vector<std::uint8_t> blob;
  BlobSizes sizes;
  CalibrationSource source = CalibrationSource::kBuiltinText;
  std::size_t calibration_texts = 0, calibration_tokens = 0;
  int max_tokens = 0;
  std::vector<LayerErrors> layers;
  std::vector<HeadError> heads;
  std::string certificate;  ///< JSON, as in the blob; empty without certify
  std::vector<std::string> warnings;
};

/// Throws ConvertError. The bytes depend on the folder, on the options but for threads and
/// isa_mask, and on the kind of processor (XNNPACK's choice of float kernels).
ConvertResult convert(const ConvertOptions& options);

}  // namespace embert::convert
