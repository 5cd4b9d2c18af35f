// SPDX-License-Identifier: Apache-2.0
// Gathers the token ids that a conversion calibrates on: texts through the model's tokenizer, a
// file of ids, or random ids.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "converter/model/conversion.hpp"
#include "converter/model/model_config.hpp"
#include "converter/model/token_batch.hpp"

namespace embert::convert {

/// One in this many texts of a user's file is held out for the certificate, of a large file fewer.
inline constexpr std::size_t kHeldOutOf = 7;

struct TokenRequest {
  const ModelConfig& config;
  /// The model's tokenizer, which cuts each text at `max_tokens`; empty where the folder has none.
  std::function<TokenBatch(std::span<const std::string_view>)> tokenize;
  std::uint32_t unknown_id;  ///< of the tokenizer
  int max_tokens;
  /// Files to use instead of the built-in texts; at most one of them.
  const std::optional<std::filesystem::path>&texts, &ids;
};

struct GatheredTokens {
  CalibrationSource source = CalibrationSource::kBuiltinText;
  ModelBatch calibration;
  /// Texts that calibration does not use, for the certificate. Empty: it takes the built-in ones
  /// where the model has a tokenizer.
  ModelBatch certificate;
  std::string certificate_texts;  ///< what these are, for the certificate
};

/// Appends to `warnings` a line for each reason why calibration is worse than it could be. Throws
/// ConvertError.
GatheredTokens gather_tokens(const TokenRequest& request, std::vector<std::string>& warnings);

}  // namespace embert::convert
