// SPDX-License-Identifier: Apache-2.0
// Search for the added tokens that are looked for in the normalised text.
#ifndef EMBERT_RUNTIME_TOKENIZER_NORMALIZED_TOKENS_HPP_
#define EMBERT_RUNTIME_TOKENIZER_NORMALIZED_TOKENS_HPP_

#include <stdint.h>

#include "runtime/tokenizer/tokenizer.hpp"
#include "runtime/tokenizer/utf8.hpp"
#include "runtime/tokenizer/vocabulary.hpp"

namespace embert {

/// Finds the longest added token of the normalised text that begins with the character `first`,
/// behind which `stream` stands, and moves the stream behind the token. Returns whether there is
/// one; *index is its number, *last the place of its last character. Stream: copyable, with bool
/// next(NormalizedChar*).
template <typename Stream>
bool match_normalized_token_at(const TokenizerView& view, const NormalizedChar& first,
                               Stream* stream, uint32_t* index, SourceOffsets* last) {
  uint8_t utf8[4];
  uint32_t bytes = encode_utf8(first.code_point, utf8);
  if (!has_bit(view.normalized_first_bytes, utf8[0])) return false;
  Stream ahead = *stream;
  AddedTokenWalk walk = {view.header->normalized_root};
  NormalizedChar c = first;
  *index = kNoToken;
  for (;;) {
    uint32_t found = kNoToken;
    bool going = true;
    for (uint32_t i = 0; i < bytes && going; ++i) {
      found = kNoToken;
      going = walk.step(view, utf8[i], &found);
    }
    if (found != kNoToken) {
      *index = found;
      *last = c.offsets;
      *stream = ahead;
    }
    if (!going || !ahead.next(&c)) return *index != kNoToken;
    bytes = encode_utf8(c.code_point, utf8);
  }
}

/// Finds the longest added token of the normalised text that begins where `stream` stands, and
/// moves the stream behind it. *index is its number, kNoToken before; *last becomes the place of
/// its last character. Stream: copyable, with bool next(NormalizedChar*).
template <typename Stream>
bool match_normalized_token(const TokenizerView& view, Stream* stream, uint32_t* index,
                            SourceOffsets* last) {
  Stream ahead = *stream;
  AddedTokenWalk walk = {view.header->normalized_root};
  NormalizedChar c;
  bool going = true;
  while (going && ahead.next(&c)) {
    uint8_t utf8[4];
    const uint32_t bytes = encode_utf8(c.code_point, utf8);
    uint32_t found = kNoToken;
    for (uint32_t i = 0; i < bytes && going; ++i) {
      found = kNoToken;
      going = walk.step(view, utf8[i], &found);
    }
    if (found == kNoToken) continue;
    *index = found;
    *last = c.offsets;
    *stream = ahead;
  }
  return *index != kNoToken;
}

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_NORMALIZED_TOKENS_HPP_
