// SPDX-License-Identifier: Apache-2.0
// BERT's normaliser: gives one normalised code point at a time, with the offsets of the original.
// It cleans, puts spaces around ideographs, decomposes, strips accents and lower-cases in the order
// of Hugging Face's BertNormalizer. It stores no text.
#ifndef EMBERT_RUNTIME_TOKENIZER_WORDPIECE_TEXT_STREAM_HPP_
#define EMBERT_RUNTIME_TOKENIZER_WORDPIECE_TEXT_STREAM_HPP_

#include <stddef.h>
#include <stdint.h>

#include "runtime/tokenizer/utf8.hpp"

namespace embert {

/// Small and copyable: a copy is a bookmark, from which one can read on independently.
class TextStream {
 public:
  /// Reads text[from.byte, end) with the TokenizerFlags of a section. `from` must be a position
  /// where the original text can be cut: the begin of a piece, or behind an ASCII character.
  TextStream(const uint8_t* text, TextCursor from, uint32_t end, uint32_t flags)
      : text_(text), end_(end), flags_(flags), cursor_(from) {}

  /// The next normalised code point; false at the end.
  bool next(NormalizedChar* out);

  /// True if nothing that was read is pending, so that another reader may go on from cursor().
  bool idle() const { return pending_begin_ == pending_end_ && !run_.active; }
  TextCursor cursor() const { return cursor_; }

 private:
  // One element of a run of non-starters: a combining mark of the text, or a part of a decomposed
  // character (inserted).
  struct Mark {
    uint32_t survivor;  // the code point, or 0 if stripping removes it
    uint8_t combining_class;
    bool inserted;
  };

  // Reads a run mark by mark.
  struct MarkReader {
    TextCursor cursor;
    uint32_t tail[2];
    uint32_t tail_count;
    uint32_t tail_next;
  };

  // A run of non-starters. Those that survive stripping come out sorted by class.
  struct Run {
    MarkReader start;
    MarkReader reader;
    TextCursor originals;   // reads the original marks in their own order, for the offsets
    SourceOffsets offsets;  // of the last mark that `originals` read
    uint32_t originals_read;
    uint32_t rank;  // marks of the text that sort before the next one
    uint8_t combining_class;
    bool active;
  };

  bool read_clean(TextCursor* cursor, NormalizedChar* out) const;
  bool read_mark(MarkReader* reader, Mark* mark) const;
  bool begin_run(const MarkReader& start, const SourceOffsets& before);
  bool select_class(uint32_t above);
  bool next_in_run(NormalizedChar* out);
  void push(uint32_t code_point, const SourceOffsets& offsets);
  void push_lowercase(uint32_t code_point, const SourceOffsets& offsets);
  void push_stripped(const NormalizedChar& in, uint8_t flags);

  const uint8_t* text_;
  uint32_t end_;
  uint32_t flags_;
  TextCursor cursor_;
  SourceOffsets pending_offsets_ = {};
  uint32_t pending_[6] = {};
  uint8_t pending_begin_ = 0;
  uint8_t pending_end_ = 0;
  Run run_ = {};
};

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_WORDPIECE_TEXT_STREAM_HPP_
