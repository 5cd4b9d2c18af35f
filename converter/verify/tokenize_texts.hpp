// SPDX-License-Identifier: Apache-2.0
// The runtime's tokenizer alone, before the model's blob exists.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "converter/model/model_config.hpp"
#include "converter/model/token_batch.hpp"

namespace embert::convert {

/// Tokenizes texts with the tokenizer in `section` (TOKENIZER_FORMAT.md), each cut at `max_tokens`.
/// Throws ConvertError.
TokenBatch tokenize_texts(const std::vector<std::uint8_t>& section, const StackConfig& config,
                          int max_tokens, std::span<const std::string_view> texts);

/// [vocab_size] how often each token occurs in the whole texts, once for each of `prompts` in front
/// of them. Throws ConvertError.
std::vector<std::uint64_t> count_tokens(const std::vector<std::uint8_t>& section,
                                        const StackConfig& config,
                                        std::span<const std::string> texts,
                                        std::span<const std::string> prompts);

}  // namespace embert::convert
