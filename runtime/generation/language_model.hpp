// SPDX-License-Identifier: Apache-2.0
// The language model's head (Devlin et al. 2018, appendix A.2): logits over the vocabulary for one
// row of the last hidden state. The vocabulary goes by in blocks, so that no buffer has its size; a
// tied head reads the word embeddings in place.
#pragma once

#include "runtime/engine/task_heads.hpp"

namespace embert {

/// A row ready to be multiplied with words: transform, activation and LayerNorm, if there are any,
/// and the result as two planes in the scratch of task 0.
class LmRow {
 public:
  /// hidden s16 [H], of the pass's last hidden state.
  LmRow(const Pass& pass, const int16_t* hidden);

  /// logits [count] of the words first .. first + count - 1; at most kWordBlock. They lie in the
  /// scratch until the next call.
  const int32_t* logits(size_t first, size_t count) const;

 private:
  const Pass& pass_;
  LmHead head_;
  const int8_t* planes_;  ///< s8 [2][lhs_stride]
};

/// Calls visit(logits, count, first) for the vocabulary, block by block.
template <typename Visit>
void for_words(const Pass& pass, const LmRow& lm, Visit visit) {
  const size_t words = pass.stack.config->vocab_size;
  for (size_t first = 0; first < words; first += kWordBlock) {
    const size_t count = smaller(kWordBlock, words - first);
    visit(lm.logits(first, count), count, first);
  }
}

}  // namespace embert
