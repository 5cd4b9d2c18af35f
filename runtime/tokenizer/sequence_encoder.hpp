// SPDX-License-Identifier: Apache-2.0
// One text to tokens: added tokens, and what stands between them through the tokenizer model.
#ifndef EMBERT_RUNTIME_TOKENIZER_SEQUENCE_ENCODER_HPP_
#define EMBERT_RUNTIME_TOKENIZER_SEQUENCE_ENCODER_HPP_

#include <stddef.h>
#include <stdint.h>

#include "embert/embert_tokenizer.h"
#include "runtime/tokenizer/tokenizer.hpp"
#include "runtime/tokenizer/utf8.hpp"

namespace embert {

struct TokenOffsets {
  uint32_t byte_start;
  uint32_t byte_end;
  uint32_t char_start;
  uint32_t char_end;
};

/// Receives the tokens of one text in order, counts them, and writes those of a window to the
/// caller's arrays.
struct TokenSink {
  const embert_tokens* arrays;
  size_t at;       // index of the window's first token in the arrays
  uint32_t first;  // the window has the tokens first <= number < last
  uint32_t last;
  int32_t type_id;
  int32_t sequence_id;
  uint32_t count = 0;  // tokens so far

  bool wants_offsets() const {
    return arrays->byte_offsets != nullptr || arrays->char_offsets != nullptr;
  }

  void emit(uint32_t id, const TokenOffsets& offsets, uint32_t word) {
    const uint32_t number = count++;
    if (number < first || number >= last) return;
    const size_t i = at + (number - first);
    if (i >= arrays->capacity) return;
    if (arrays->ids != nullptr) arrays->ids[i] = static_cast<int32_t>(id);
    if (arrays->type_ids != nullptr) arrays->type_ids[i] = type_id;
    if (arrays->byte_offsets != nullptr) {
      arrays->byte_offsets[2 * i] = offsets.byte_start;
      arrays->byte_offsets[2 * i + 1] = offsets.byte_end;
    }
    if (arrays->char_offsets != nullptr) {
      arrays->char_offsets[2 * i] = offsets.char_start;
      arrays->char_offsets[2 * i + 1] = offsets.char_end;
    }
    if (arrays->word_ids != nullptr) arrays->word_ids[i] = static_cast<int32_t>(word);
    if (arrays->sequence_ids != nullptr) arrays->sequence_ids[i] = sequence_id;
  }
};

/// One text on its way to tokens. The model's encoder moves the cursor and counts the words.
struct SequenceState {
  const TokenizerView& view;
  const uint8_t* text;
  uint32_t bytes;  // of the whole text
  TokenSink& sink;
  TextCursor cursor = {0, 0};
  uint32_t word = 0;  // words so far
};

/// Encodes the text from the cursor to byte `end`, in which there is no raw added token, and moves
/// the cursor there. One function a tokenizer model; models.hpp says which of them a build has.
void encode_wordpiece(SequenceState& state, uint32_t end);
void encode_unigram(SequenceState& state, uint32_t end);
void encode_bpe(SequenceState& state, uint32_t end);

/// Sends all tokens of a text to the sink. Afterwards sink->count is their number.
void encode_sequence(const TokenizerView& view, const uint8_t* text, uint32_t bytes,
                     TokenSink* sink);

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_SEQUENCE_ENCODER_HPP_
