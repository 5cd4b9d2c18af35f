// SPDX-License-Identifier: Apache-2.0
// The normalizer of a Unigram tokenizer: Replace of strings, NFKD, StripAccents, Lowercase,
// Precompiled, Strip, Replace of runs of spaces, in this order, those of them that the section asks
// for.
#ifndef EMBERT_RUNTIME_TOKENIZER_UNIGRAM_UNIGRAM_STREAM_HPP_
#define EMBERT_RUNTIME_TOKENIZER_UNIGRAM_UNIGRAM_STREAM_HPP_

#include <stdint.h>

#include "runtime/tokenizer/unigram/charsmap.hpp"
#include "runtime/tokenizer/unigram/decomposed_stream.hpp"
#include "runtime/tokenizer/unigram/grapheme_break.hpp"
#include "runtime/tokenizer/unigram/unigram_section.hpp"

namespace embert {

/// Precompiled: a grapheme of fewer than 6 bytes is looked up whole, and what is not found
/// code point by code point. Without a charsmap it passes all through.
///
/// Offsets follow the package tokenizers. Of m code points that n replace, the first min(m, n) pair
/// up, further new ones share the place of the last, and further old ones vanish with it. What is
/// deleted at the begin of the text is not noticed there: all later places are those of as many
/// code points before.
class MappedStream {
 public:
  MappedStream(const UnigramSection& section, const uint8_t* text, TextCursor from, uint32_t end)
      : map_(section.charsmap, section.header->charsmap_bytes),
        below_(*section.header, text, from, end),
        originals_(below_),
        has_map_(section.header->charsmap_bytes != 0) {}

  bool next(NormalizedChar* out);

  bool idle() const {
    return queued_ == 0 && !unit_ready_ && !lagging_ && !in_long_grapheme_ && below_.idle();
  }
  /// For an idle stream: reads an ASCII character that the normalizer leaves as it is.
  NormalizedChar take_ascii() {
    started_ = true;
    return below_.source().take_ascii();
  }
  const SourceStream& source() const { return below_.source(); }

 private:
  static constexpr uint32_t kShortGrapheme = 6;  // bytes

  bool pull(uint32_t count);
  bool begin_unit();
  void begin_grapheme();
  void look_up(uint32_t characters);
  void pop_unit();
  void skip_originals(uint32_t count);
  NormalizedChar place(uint32_t code_point, uint32_t index);

  Charsmap map_;
  DecomposedStream below_;
  DecomposedStream originals_;  // at the begin, or behind the place of the last output if lagging_
  NormalizedChar queue_[kShortGrapheme];  // read from below_, not yet part of a finished unit
  SourceOffsets last_ = {};               // of the last output
  const uint8_t* new_ = nullptr;          // what is left of the replacement of the unit
  const uint8_t* new_end_ = nullptr;
  GraphemeBreak break_;
  uint32_t given_ = 0;  // code points of the replacement so far
  uint8_t queued_ = 0;
  uint8_t unit_ = 0;               // the unit is the first unit_ of the queue
  uint8_t grapheme_left_ = 0;      // of the queue: still of the grapheme, to be looked up alone
  bool in_long_grapheme_ = false;  // what follows in below_ may be of the grapheme, too
  bool unit_ready_ = false;
  bool replaced_ = false;
  bool started_ = false;  // there was output
  bool lagging_ = false;
  bool has_map_;
};

/// All steps. Small and copyable: a copy is a bookmark, from which one can read on independently.
class UnigramStream {
 public:
  UnigramStream(const UnigramSection& section, const uint8_t* text, TextCursor from, uint32_t end)
      : header_(section.header), mapped_(section, text, from, end) {}

  bool next(NormalizedChar* out) {
    uint8_t byte = 0;
    if (!peek_plain(&byte)) return next_slowly(out);
    *out = mapped_.take_ascii();
    begun_ = true;
    return true;
  }

  /// Whether the next character is sure to be this one of the text.
  bool peek_plain(uint8_t* byte) const {
    return mapped_.idle() && mapped_.source().peek_ascii(byte) &&
           (header_->plain[*byte >> 5] >> (*byte & 31) & 1) != 0;
  }

  /// How far the text was read.
  TextCursor cursor() const { return mapped_.source().cursor(); }

 private:
  bool next_slowly(NormalizedChar* out);
  bool next_stripped(NormalizedChar* out);

  const UnigramHeader* header_;
  MappedStream mapped_;
  uint32_t inner_blanks_ = 0;  // white space ahead that is not at the end of the text
  bool begun_ = false;
};

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_UNIGRAM_UNIGRAM_STREAM_HPP_
