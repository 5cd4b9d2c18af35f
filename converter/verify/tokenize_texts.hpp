// SPDX-License-Identifier: Apache-2.0
// The runtime's tokenizer alone, before the model's blob exists.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "converter/model/model_config.hpp"
#include "converter/model/token_batch.hpp"

namespace embert::convert {

/// Tokenizes texts with the tokenizer in `section` (TOKENIZER_FORMAT.md), each cut at `max_tokens`.
/// Throws ConvertError.
TokenBatch tokenize_texts(const std::vector<std::uint8_t>& section, const StackConfig& config,
                          int max_tokens, std::span<const std::string_view> texts);

}  // namespace embert::convert
