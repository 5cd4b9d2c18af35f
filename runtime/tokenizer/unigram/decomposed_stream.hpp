// SPDX-License-Identifier: Apache-2.0
// The first steps of a Unigram normalizer: Replace of strings, NFKD, StripAccents, Lowercase. Each
// stream gives one code point at a time with the offsets of the original, and stores no text.
#ifndef EMBERT_RUNTIME_TOKENIZER_UNIGRAM_DECOMPOSED_STREAM_HPP_
#define EMBERT_RUNTIME_TOKENIZER_UNIGRAM_DECOMPOSED_STREAM_HPP_

#include <stdint.h>

#include "runtime/format/tokenizer_format.hpp"
#include "runtime/tokenizer/utf8.hpp"

namespace embert {

/// The original text with strings replaced (UnigramHeader::replace).
class SourceStream {
 public:
  SourceStream(const UnigramHeader& header, const uint8_t* text, TextCursor from, uint32_t end)
      : header_(&header), text_(text), end_(end), cursor_(from) {}

  bool next(NormalizedChar* out);

  /// The next byte, and whether the one behind it is ASCII or the end. False at the end.
  bool peek_ascii(uint8_t* byte) const {
    if (cursor_.byte >= end_) return false;
    *byte = text_[cursor_.byte];
    return *byte < 0x80 && (cursor_.byte + 1 == end_ || text_[cursor_.byte + 1] < 0x80);
  }
  /// Takes the byte that peek_ascii gave.
  NormalizedChar take_ascii() {
    const NormalizedChar c = {text_[cursor_.byte],
                              {cursor_.byte, cursor_.byte + 1, cursor_.character}};
    ++cursor_.byte;
    ++cursor_.character;
    return c;
  }
  TextCursor cursor() const { return cursor_; }

 private:
  bool match(const UnigramReplace& replace, NormalizedChar* out);

  const UnigramHeader* header_;
  const uint8_t* text_;
  uint32_t end_;
  TextCursor cursor_;
};

/// NFKD, StripAccents and Lowercase, those of them that the header's flags ask for.
class DecomposedStream {
 public:
  DecomposedStream(const UnigramHeader& header, const uint8_t* text, TextCursor from, uint32_t end)
      : reader_(SourceStream(header, text, from, end)), flags_(header.flags) {}

  bool next(NormalizedChar* out);

  /// Whether nothing that was read is pending, so that source() is where this stream stands.
  bool idle() const { return !reader_.pending() && !run_.active && !dot_pending_; }
  SourceStream& source() { return reader_.source; }
  const SourceStream& source() const { return reader_.source; }

 private:
  struct Part {
    NormalizedChar c;
    uint8_t combining_class;
    bool inserted;  // not the first code point of a decomposition
  };

  // Reads the text decomposed, but not yet ordered.
  struct PartReader {
    SourceStream source;
    SourceOffsets offsets = {};  // of the code point that is being decomposed
    uint32_t place = 0;          // of its decomposition in nfkd::kPool, or the Hangul syllable
    uint8_t next_unit = 0;
    uint8_t units = 0;

    explicit PartReader(const SourceStream& from) : source(from) {}
    bool pending() const { return next_unit < units; }
    bool read(Part* part);
    uint32_t take_unit();
  };

  // A run of non-starters, which comes out sorted by class. It may be as long as the text, so it is
  // not stored but read again for each class that occurs in it; there are at most 55 of them.
  struct Run {
    PartReader start;
    PartReader reader;
    SourceStream originals;      // reads the original marks in their own order, for the offsets
    SourceOffsets offsets = {};  // of the last mark that `originals` read
    uint32_t originals_read = 0;
    uint32_t rank = 0;  // marks of the text that sort before the next one
    uint8_t combining_class = 0;
    bool active = false;
  };

  bool survives(uint32_t code_point) const;
  void begin_run(const PartReader& start);
  void select_class(uint32_t above);
  bool next_in_run(NormalizedChar* out);
  bool next_ordered(NormalizedChar* out);

  PartReader reader_;
  uint32_t flags_;
  bool dot_pending_ = false;
  SourceOffsets dot_offsets_ = {};
  Run run_ = {.start = reader_, .reader = reader_, .originals = reader_.source};
};

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_UNIGRAM_DECOMPOSED_STREAM_HPP_
