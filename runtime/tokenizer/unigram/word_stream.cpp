// SPDX-License-Identifier: Apache-2.0
#include "runtime/tokenizer/unigram/word_stream.hpp"

#include "runtime/tokenizer/normalized_tokens.hpp"

namespace embert {

// Whether an added token begins with c, which was read from stream_, or with the white space that c
// begins. Moves stream_ behind it.
bool WordStream::find_added_token(const NormalizedChar& c) {
  if (match_normalized_token_at(*view_, c, &stream_, &token_.index, &token_.last)) {
    token_.first = c.offsets;
  } else if (!is_white_space(c.code_point)) {
    return false;
  } else if (inner_blanks_ != 0) {
    --inner_blanks_;
    return false;
  } else {
    uint8_t byte = 0;
    if (stream_.peek_plain(&byte) && !has_bit(view_->normalized_first_bytes, byte) &&
        !is_white_space(byte)) {
      return false;
    }
    // The look ahead happens once for each run of white space.
    UnigramStream ahead = stream_;
    NormalizedChar behind;
    for (;; ++inner_blanks_) {
      if (!ahead.next(&behind)) return false;
      if (!is_white_space(behind.code_point)) break;
    }
    if (!match_normalized_token_at(*view_, behind, &ahead, &token_.index, &token_.last) ||
        (view_->added_tokens[token_.index].flags & kAddedTokenStripLeft) == 0) {
      return false;
    }
    inner_blanks_ = 0;
    stream_ = ahead;
    token_.first = c.offsets;
  }
  while ((view_->added_tokens[token_.index].flags & kAddedTokenStripRight) != 0) {
    UnigramStream ahead = stream_;
    NormalizedChar behind;
    if (!ahead.next(&behind) || !is_white_space(behind.code_point)) break;
    token_.last = behind.offsets;
    stream_ = ahead;
  }
  return true;
}

void WordStream::look_ahead() {
  if (ahead_ != Ahead::kNothing) return;
  NormalizedChar c;
  if (!stream_.next(&c)) {
    ahead_ = Ahead::kEnd;
    return;
  }
  if ((view_->header->flags & kTokenizerHasNormalizedTokens) != 0 && find_added_token(c)) {
    ahead_ = Ahead::kAddedToken;
    return;
  }
  character_ = c;
  if (has(kUnigramWhitespaceSplit) && is_white_space(c.code_point)) {
    ahead_ = Ahead::kBlank;
    return;
  }
  if (c.code_point == ' ') character_.code_point = header_->word_mark;
  ahead_ = Ahead::kCharacter;
}

WordStream::Next WordStream::begin() {
  for (look_ahead(); ahead_ == Ahead::kBlank; look_ahead()) {
    ahead_ = Ahead::kNothing;
    at_split_ = true;
  }
  if (ahead_ == Ahead::kEnd) return Next::kEnd;
  if (ahead_ == Ahead::kAddedToken) return Next::kAddedToken;
  const bool prepend = has(kUnigramPrependAlways) ||
                       (has(kUnigramPrependFirst) && character_.offsets.byte_start == 0);
  mark_pending_ = at_split_ && prepend && character_.code_point != header_->word_mark;
  at_split_ = false;
  at_begin_ = true;
  return Next::kWord;
}

bool WordStream::next(NormalizedChar* out) {
  if (mark_pending_) {
    mark_pending_ = false;
    at_begin_ = false;
    *out = {header_->word_mark, character_.offsets};
    return true;
  }
  look_ahead();
  if (ahead_ != Ahead::kCharacter) return false;
  if (!at_begin_ && character_.code_point == header_->word_mark && has(kUnigramSplitWords)) {
    return false;
  }
  at_begin_ = false;
  ahead_ = Ahead::kNothing;
  *out = character_;
  return true;
}

WordStream::AddedToken WordStream::take_added_token() {
  ahead_ = Ahead::kNothing;
  at_split_ = true;
  return token_;
}

}  // namespace embert
