// SPDX-License-Identifier: Apache-2.0
// Splits the tokens of a long text into overlapping windows.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "targets/cli/io/records.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/model/text_tokens.hpp"

namespace embert::cli {

struct WindowOptions {
  uint32_t window = 0;             ///< tokens; 0: the model's own length
  std::optional<uint32_t> stride;  ///< tokens that neighbours share

  void add_to(CLI::App& command);
};

/// Splits the record's only text into windows of at most `most` tokens. A record of two texts has
/// its second text split, and each window begins with the first text. The windows equal those of
/// embert_tokenize, but the text is tokenized once instead of once for each window. Throws if a
/// window has no room for text or for the stride.
std::vector<TextTokens> windows_of(const embert_model& model, const Record& record, uint32_t most,
                                   std::optional<uint32_t> stride);

}  // namespace embert::cli
