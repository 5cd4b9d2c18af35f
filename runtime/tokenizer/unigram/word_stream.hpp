// SPDX-License-Identifier: Apache-2.0
// Cuts the normalised text into words: at added tokens of the normalised text, at white space
// (WhitespaceSplit), and before each word mark (Metaspace), which also takes the place of spaces
// and stands in front of a word.
#ifndef EMBERT_RUNTIME_TOKENIZER_UNIGRAM_WORD_STREAM_HPP_
#define EMBERT_RUNTIME_TOKENIZER_UNIGRAM_WORD_STREAM_HPP_

#include <stdint.h>

#include "runtime/tokenizer/sequence_encoder.hpp"
#include "runtime/tokenizer/unigram/unigram_section.hpp"
#include "runtime/tokenizer/unigram/unigram_stream.hpp"

namespace embert {

/// Small and copyable: a copy is a bookmark, from which one can read on independently.
class WordStream {
 public:
  enum class Next { kWord, kAddedToken, kEnd };

  struct AddedToken {
    uint32_t index;
    SourceOffsets first;  // of its characters, with the white space that it takes in
    SourceOffsets last;
  };

  WordStream(const TokenizerView& view, const UnigramSection& section, const uint8_t* text,
             TextCursor from, uint32_t end)
      : view_(&view), header_(section.header), stream_(section, text, from, end) {}

  /// Goes to the word that follows, of which next() then gives the characters, or added token.
  Next begin();

  /// A character of the word after the other; false at its end.
  bool next(NormalizedChar* out);

  /// Takes the added token that begin() found.
  AddedToken take_added_token();

  /// How far the text was read.
  TextCursor cursor() const { return stream_.cursor(); }

 private:
  enum class Ahead : uint8_t { kNothing, kCharacter, kBlank, kAddedToken, kEnd };

  void look_ahead();
  bool find_added_token(const NormalizedChar& c);
  bool has(uint32_t flag) const { return (header_->flags & flag) != 0; }

  const TokenizerView* view_;
  const UnigramHeader* header_;
  UnigramStream stream_;       // behind what lies ahead
  NormalizedChar character_;   // kCharacter
  AddedToken token_;           // kAddedToken
  uint32_t inner_blanks_ = 0;  // white space ahead that no added token takes in
  Ahead ahead_ = Ahead::kNothing;
  bool at_split_ = true;   // what follows is the first word behind an added token or white space
  bool at_begin_ = false;  // of the word
  bool mark_pending_ = false;  // a word mark comes before the word's first character
};

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_UNIGRAM_WORD_STREAM_HPP_
