// SPDX-License-Identifier: Apache-2.0
// One text through a model: the logits of its tokens, or a run for the functions of embert_lm.h.
#pragma once

#include <cstdint>
#include <vector>

#include "targets/hosted/model/model_file.hpp"
#include "targets/hosted/model/text_tokens.hpp"
#include "targets/hosted/threads/work_slot.hpp"

namespace embert::hosted {

/// A row of logits for each token; real = value * scale.
struct TokenLogits {
  size_t width = 0;
  std::vector<int32_t> values;  ///< [tokens x width]
  embert_scale scale = {};
};

/// Returns the token classifier's logits of a text, which has at least one token.
TokenLogits classify_tokens(const ModelFile& file, WorkSlot& slot, const TextTokens& text);
/// Runs the model on a text and returns the engine, for the functions of embert_lm.h.
embert_engine* run_text(const ModelFile& file, WorkSlot& slot, const TextTokens& text);

}  // namespace embert::hosted
