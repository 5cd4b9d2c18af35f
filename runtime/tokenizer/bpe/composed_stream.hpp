// SPDX-License-Identifier: Apache-2.0
// The normaliser of a byte-level BPE: gives one code point at a time with the offsets of the
// original, in NFC where the tokenizer says so (Unicode Standard Annex 15). It stores no text.
#ifndef EMBERT_RUNTIME_TOKENIZER_BPE_COMPOSED_STREAM_HPP_
#define EMBERT_RUNTIME_TOKENIZER_BPE_COMPOSED_STREAM_HPP_

#include <stdint.h>

#include "runtime/tokenizer/utf8.hpp"

namespace embert {

/// Small and copyable: a copy is a bookmark, from which one can read on independently.
class ComposedStream {
 public:
  /// Reads text[from.byte, end). With `compose` the whole range is one text for NFC.
  ComposedStream(const uint8_t* text, TextCursor from, uint32_t end, bool compose)
      : text_(text),
        end_(end),
        compose_(compose),
        reader_{from, {0, 0, 0}, 0, 0},
        originals_(from) {}

  /// The next code point; false at the end. A code point that NFC composes has the offsets of the
  /// first one that it is made of.
  bool next(NormalizedChar* out);

  /// Moves over characters that stand in the text as next() would give them, up to white space or a
  /// byte of `stops` (a set of 256 bits). Returns their number.
  uint32_t skip_plain(const uint32_t stops[8]);

  /// True if nothing that was read is pending, so that another reader may go on from cursor().
  bool idle() const { return !active_ && reader_.tail_next == reader_.tail_count; }
  TextCursor cursor() const { return originals_; }

 private:
  // One code point of the decomposed text. `inserted`: 1 if it is behind the first part of a code
  // point of the text, else 0.
  struct Part {
    uint32_t code_point;
    int32_t inserted;
    uint32_t combining_class;
  };

  // Reads the decomposed text part by part.
  struct Reader {
    TextCursor cursor;
    uint32_t tail[3];
    uint32_t tail_count;
    uint32_t tail_next;
  };

  // A run of marks in canonical order: by class, those of one class in the order of the text. A run
  // may be as long as the text, so it is not stored but read again for each class that it has.
  struct Marks {
    Reader begin;
    Reader at;
    Reader end;  // behind the run
    uint32_t combining_class;
  };

  bool read_char(TextCursor* cursor, NormalizedChar* out) const;
  bool read_part(Reader* reader, Part* part) const;
  void begin_marks(const Reader& begin, Marks* marks) const;
  bool select_class(Marks* marks) const;
  bool next_mark(Marks* marks, Part* mark) const;
  bool next_blocked(Part* starter, Part* mark);
  void begin_segment();
  NormalizedChar place(const Part& part);

  const uint8_t* text_;
  uint32_t end_;
  bool compose_;
  bool active_ = false;       // in a segment: a starter and the marks behind it
  bool has_starter_ = false;  // the starter is still to be given
  Reader reader_;             // behind the segment
  TextCursor originals_;      // behind the code points of the text that have been given
  SourceOffsets last_ = {};   // of the last one of these
  Part composed_ = {};        // the segment's starter with all marks that it takes in
  Part starter_ = {};         // the same as far as the marks have been given
  Marks marks_ = {};
  uint32_t blocked_class_ = 0;  // of the last mark that was not taken in
};

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_BPE_COMPOSED_STREAM_HPP_
