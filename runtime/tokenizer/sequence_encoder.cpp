// SPDX-License-Identifier: Apache-2.0
// Splits a text at the added tokens that are searched in the raw text. The tokenizer model encodes
// what stands between them.
#include "runtime/tokenizer/sequence_encoder.hpp"

#include "runtime/tokenizer/models.hpp"
#include "runtime/tokenizer/trim_offsets.hpp"
#include "runtime/tokenizer/vocabulary.hpp"

namespace embert {
namespace {

struct AddedMatch {
  uint32_t index;
  uint32_t begin;  // in bytes of the text, with the white space that the token takes in
  uint32_t end;
};

class AddedTokenSplit {
 public:
  AddedTokenSplit(const TokenizerView& view, const uint8_t* text, uint32_t bytes, TokenSink& sink)
      : state_{view, text, bytes, sink} {}

  template <typename EncodePiece>
  void run(EncodePiece encode_piece) {
    const bool search = (state_.view.header->flags & kTokenizerHasRawTokens) != 0;
    TextCursor& cursor = state_.cursor;
    for (;;) {
      AddedMatch match = {};
      const bool found = search && find_raw_token(&match);
      encode_piece(state_, found ? match.begin : state_.bytes);
      if (!found) return;
      const uint32_t char_start = cursor.character;
      while (cursor.byte < match.end) {
        cursor.byte += decode_utf8(state_.text + cursor.byte, state_.text + match.end).bytes;
        ++cursor.character;
      }
      const OuterSpace space = outer_space(state_.text + match.begin, state_.text + match.end);
      const TokenOffsets offsets = {match.begin, match.end, char_start, cursor.character};
      state_.sink.emit(state_.view.added_tokens[match.index].id,
                       trim_offsets(state_, space, offsets), state_.word++);
    }
  }

 private:
  // Finds the leftmost added token of the raw text behind the cursor; of several there, the
  // longest.
  bool find_raw_token(AddedMatch* match) const {
    for (uint32_t begin = state_.cursor.byte; begin < state_.bytes; ++begin) {
      if (!has_bit(state_.view.raw_first_bytes, state_.text[begin])) continue;
      AddedTokenWalk walk = {state_.view.header->raw_root};
      uint32_t end = begin;
      for (uint32_t i = begin; i < state_.bytes; ++i) {
        uint32_t index = kNoToken;
        if (!walk.step(state_.view, state_.text[i], &index)) break;
        if (index == kNoToken) continue;
        match->index = index;
        end = i + 1;
      }
      if (end == begin) continue;
      match->begin = begin;
      match->end = end;
      take_in_spaces(match);
      return true;
    }
    return false;
  }

  void take_in_spaces(AddedMatch* match) const {
    const uint32_t flags = state_.view.added_tokens[match->index].flags;
    while ((flags & kAddedTokenStripLeft) != 0 && match->begin > state_.cursor.byte) {
      uint32_t lead = match->begin - 1;
      while (lead > state_.cursor.byte && match->begin - lead < 4 &&
             (state_.text[lead] & 0xC0) == 0x80)
        --lead;
      const Utf8Char c = decode_utf8(state_.text + lead, state_.text + match->begin);
      if (lead + c.bytes != match->begin || !is_white_space(c.code_point)) break;
      match->begin = lead;
    }
    while ((flags & kAddedTokenStripRight) != 0 && match->end < state_.bytes) {
      const Utf8Char c = decode_utf8(state_.text + match->end, state_.text + state_.bytes);
      if (!is_white_space(c.code_point)) break;
      match->end += c.bytes;
    }
  }

  SequenceState state_;
};

}  // namespace

void encode_sequence(const TokenizerView& view, const uint8_t* text, uint32_t bytes,
                     TokenSink* sink) {
  AddedTokenSplit split(view, text, bytes, *sink);
  switch (static_cast<TokenizerModel>(view.header->model)) {
    case TokenizerModel::kWordPiece:
      if constexpr (kHasWordPiece) split.run(encode_wordpiece);
      break;
    case TokenizerModel::kUnigram:
      if constexpr (kHasUnigram) split.run(encode_unigram);
      break;
    case TokenizerModel::kBpe:
      if constexpr (kHasBpe) split.run(encode_bpe);
      break;
  }
}

}  // namespace embert
