// SPDX-License-Identifier: Apache-2.0
// The token ids that a conversion calibrates on: texts through the model's tokenizer, a file of
// ids, or random ids.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "converter/model/model_config.hpp"
#include "converter/model/token_batch.hpp"

namespace embert::convert {

/// Where calibration's tokens came from.
enum class CalibrationSource { kBuiltinText, kTextFile, kIdFile, kRandomIds };
const char* calibration_source_name(CalibrationSource source);

/// One in so many texts of an id file is held back for the certificate.
inline constexpr std::size_t kHeldOutOf = 7;

struct TokenRequest {
  const ModelConfig& config;
  const std::vector<std::uint8_t>& tokenizer;  ///< its section; empty: none
  std::uint32_t unknown_id;                    ///< with a tokenizer
  int max_tokens;
  /// Instead of the built-in texts; not both.
  const std::optional<std::filesystem::path>&texts, &ids;
};

struct GatheredTokens {
  CalibrationSource source = CalibrationSource::kBuiltinText;
  ModelBatch calibration;
  /// For the certificate of a model without tokenizer; others are compared on the built-in texts.
  ModelBatch certificate;
};

/// `warnings` gets a line for each thing that makes calibration worse than it could be. Throws
/// ConvertError.
GatheredTokens gather_tokens(const TokenRequest& request, std::vector<std::string>& warnings);

}  // namespace embert::convert
