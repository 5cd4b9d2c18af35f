// SPDX-License-Identifier: Apache-2.0
// Long texts as overlapping windows.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "targets/cli/io/records.hpp"
#include "targets/cli/model/text_tokens.hpp"

namespace embert::cli {

struct WindowOptions {
  uint32_t window = 0;  ///< tokens; 0: the model's
  std::optional<uint32_t> stride;

  void add_to(CLI::App& command);
};

/// The windows, of at most `most` tokens, of the record's only text, or of its second text with the
/// first in front of each. They are those of embert_tokenize, whose calls each go through the whole
/// text; here that happens once. Throws where there is no room for the text or for the stride.
std::vector<TextTokens> windows_of(const embert_model& model, const Record& record, uint32_t most,
                                   std::optional<uint32_t> stride);

}  // namespace embert::cli
