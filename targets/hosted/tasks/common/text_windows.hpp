// SPDX-License-Identifier: Apache-2.0
// Splits the tokens of a long text into overlapping windows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "targets/hosted/model/model_file.hpp"
#include "targets/hosted/model/text_tokens.hpp"

namespace embert::hosted {

struct WindowOptions {
  uint32_t window = 0;             ///< tokens; 0: the longest text of the model
  std::optional<uint32_t> stride;  ///< tokens that neighbours share; default: half, at most 128
};

/// Returns the window's size for a model; throws UsageError if it exceeds the model's positions.
uint32_t window_size(const ModelFile& file, const WindowOptions& options, uint32_t max_tokens);

struct WindowShape {
  uint32_t most;                        ///< tokens of a window
  std::optional<uint32_t> stride = {};  ///< as in WindowOptions
  size_t prompt_bytes = 0;              ///< so much of the text stands before each window
};
/// Splits a text into windows. A pair has its second text split, and each window begins with the
/// first text. The windows equal those of embert_tokenize, but the text is tokenized once instead
/// of once for each window. Throws TextError, with index 0, if a window has no room for text, and
/// UsageError if it has none for the stride.
std::vector<TextTokens> windows_of(const embert_model& model, const TextItem& item,
                                   const WindowShape& shape);

/// Whether token i is of the text that is split: 0, or of a pair 1; and not of the prompt.
bool is_split(const TextTokens& tokens, size_t i, int32_t split, size_t prompt_bytes);

}  // namespace embert::hosted
