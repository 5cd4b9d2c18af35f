// SPDX-License-Identifier: Apache-2.0
// Texts that are longer than the model, run in windows that share no token. What all windows give
// is weighed by their tokens of the text, so that each token counts once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/hosted_model.hpp"
#include "targets/hosted/tasks/common/logit_scores.hpp"
#include "targets/hosted/texts/text_list.hpp"

namespace embert::hosted {

/// Calls run() for text `index` of a list: a TextError with index 0 gets this index.
template <typename Run>
void for_text(size_t index, const Run& run) {
  try {
    run();
  } catch (const TextError& error) {
    throw TextError(index, error.what());
  }
}

struct LongVector {
  std::vector<int16_t> values;  ///< [vector_size] real = value * scale
  embert_scale scale;
  uint32_t tokens;  ///< of the whole text, special tokens included
  uint32_t windows;
};
/// The mean of the windows' vectors, with length 1 if the model's vectors have it. `prompt` stands
/// before each window. In integers: the same bits on every processor. Throws TextError, with index
/// 0, if a window has no room for text.
LongVector embed_long_text(HostedModel& model, std::string_view prompt, std::string_view text,
                           embert_pooling pooling);

struct LongScores {
  std::vector<double> scores;  ///< [num_labels]
  uint32_t tokens, windows;
};
/// The mean of the windows' scores, which are the probabilities of labels with softmax and sigmoid.
/// Of a pair the second text is split, and the first stands before each window.
LongScores classify_long_text(HostedModel& model, const TextItem& item,
                              embert_score_function function);

}  // namespace embert::hosted
