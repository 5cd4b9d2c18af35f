// SPDX-License-Identifier: Apache-2.0
// The language model's head (Devlin et al. 2018, appendix A.2): logits over the vocabulary for one
// row of the last hidden state. It goes through the vocabulary in blocks, so no buffer has the
// vocabulary's size. A tied head reads the word embeddings in place.
#pragma once

#include "runtime/engine/heads/task_heads.hpp"

namespace embert {

/// A row ready for the product with the vocabulary: after transform, activation and LayerNorm where
/// the model has them, as two planes of 8 bits. It lies in the scratch of task 0, so there can be
/// one at a time.
class LmRow {
 public:
  /// hidden: s16 [H], a row of the last hidden state.
  LmRow(const Buffers& buffers, const int16_t* hidden);

  /// Logits of the tokens first .. first + count - 1, count <= kVocabBlock: s32 [count], valid
  /// until the next call.
  const int32_t* logits(size_t first, size_t count) const;

  size_t vocab_size() const { return last_config(buffers_.engine).vocab_size; }

 private:
  const Buffers& buffers_;
  LmHead head_;
  const int8_t* planes_;  ///< s8 [2][lhs_stride]
};

/// Calls visit(logits, count, first) for the whole vocabulary, block by block.
template <typename Visit>
void for_vocab_blocks(const LmRow& row, Visit visit) {
  const size_t tokens = row.vocab_size();
  for (size_t first = 0; first < tokens; first += kVocabBlock) {
    const size_t count = tokens - first < kVocabBlock ? tokens - first : kVocabBlock;
    visit(row.logits(first, count), count, first);
  }
}

}  // namespace embert
