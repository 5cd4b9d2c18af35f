// SPDX-License-Identifier: Apache-2.0
// A text to the tokens of a byte-level BPE: normalised added tokens, words, symbols. A word that
// stands in the text as the normaliser gives it is read straight from the text; others go through
// the normaliser.
#include "runtime/tokenizer/bpe/byte_pair_encoder.hpp"
#include "runtime/tokenizer/bpe/byte_pair_section.hpp"
#include "runtime/tokenizer/bpe/composed_stream.hpp"
#include "runtime/tokenizer/bpe/split_words.hpp"
#include "runtime/tokenizer/normalized_tokens.hpp"
#include "runtime/tokenizer/sequence_encoder.hpp"
#include "runtime/tokenizer/trim_offsets.hpp"

namespace embert {
namespace {

uint32_t utf8_bytes(uint32_t code_point) {
  return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
}

// The text between two added tokens.
struct Stretch {
  uint32_t chars;     // of the normalised text
  uint32_t byte_end;  // where it ends in the original; 0 if that is no place to cut the original
  bool has_token;     // a normalised added token follows
  uint32_t token;
  TokenOffsets token_offsets;
  ComposedStream rest;  // behind that token
};

// Reads words of the original. `plain` becomes false where a character is not as the normaliser
// would give it, or where one may depend on its neighbours.
struct PlainReader {
  const uint8_t* text;
  uint32_t begin;
  uint32_t end;
  bool compose;
  uint32_t at;
  uint32_t chars;
  bool plain;

  bool next(ClassifiedChar* c) {
    if (at >= end || !plain) return false;
    const Utf8Char in = decode_utf8(text + at, text + end);
    c->code_point = in.code_point;
    const uint8_t kind = unicode::text_class(in.code_point);
    c->text_class = kind & unicode::kTextClassMask;
    if ((compose && (kind & unicode::kComposes) != 0) ||
        (in.code_point == kReplacementCharacter && (in.bytes != 3 || text[at] != 0xEF))) {
      plain = false;
    }
    at += in.bytes;
    ++chars;
    return true;
  }
  WordSize size() const { return {at - begin, chars}; }
};

// Reads words of the normalised text, a prefixed space first.
struct StreamReader {
  ComposedStream stream;
  bool prefix;
  uint32_t chars_left;
  WordSize read;

  bool next(ClassifiedChar* c) {
    if (prefix) {
      prefix = false;
      *c = {' ', unicode::kWhiteSpace};
      read.bytes += 1;
      return true;
    }
    NormalizedChar in;
    if (read.chars == chars_left || !stream.next(&in)) return false;
    c->code_point = in.code_point;
    c->text_class = unicode::text_class(in.code_point) & unicode::kTextClassMask;
    read.bytes += utf8_bytes(in.code_point);
    read.chars += 1;
    return true;
  }
  WordSize size() const { return read; }
};

// The characters of a word in the normalised text, in step with its bytes.
struct WordCursor {
  ComposedStream stream;
  bool prefix;
  NormalizedChar c;
  uint32_t bytes;  // up to and with c

  void next() {
    if (prefix) {
      // The space shares the place of the character before which it is put.
      prefix = false;
      ComposedStream ahead = stream;
      ahead.next(&c);
      c.code_point = ' ';
    } else if (!stream.next(&c)) {
      c.code_point = ' ';
    }
    bytes += utf8_bytes(c.code_point);
  }
  // The place of the character that has byte `i`, for rising i.
  const SourceOffsets& offsets_of(uint32_t i) {
    while (bytes <= i) next();
    return c.offsets;
  }
};

class ByteLevelEncoder {
 public:
  ByteLevelEncoder(SequenceState& state, uint32_t end)
      : state_(state),
        part_(byte_pair_section(state.view)),
        end_(end),
        compose_((part_.header->flags & kBytePairCompose) != 0),
        split_((part_.header->flags & kBytePairSplit) != 0) {}

  void run() {
    ComposedStream stream(state_.text, state_.cursor, end_, compose_);
    for (;;) {
      const Stretch stretch = find_stretch(stream);
      encode_stretch(&stream, stretch);
      if (!stretch.has_token) break;
      const TokenOffsets& offsets = stretch.token_offsets;
      const OuterSpace space =
          outer_space(state_.text + offsets.byte_start, state_.text + offsets.byte_end);
      emit(state_.view.added_tokens[stretch.token].id, space, offsets);
      ++state_.word;
      stream = stretch.rest;
    }
    state_.cursor = stream.cursor();
  }

 private:
  void emit(uint32_t id, OuterSpace space, const TokenOffsets& offsets) {
    state_.sink.emit(id, trim_offsets(state_, space, offsets), state_.word);
  }

  void emit_symbol(uint32_t symbol, const TokenOffsets& offsets) {
    const uint32_t id = part_.symbol_ids[symbol];
    if ((state_.view.header->flags & kTokenizerTrimOffsets) == 0) {
      state_.sink.emit(id, offsets, state_.word);
    } else {
      emit(id, symbol_space(id), offsets);
    }
  }

  // Spaces at the ends of a token. Its string has U+0120 for a space.
  OuterSpace symbol_space(uint32_t id) const {
    const uint8_t* const string = state_.view.strings + string_begin(state_.view, id);
    const uint32_t bytes = string_begin(state_.view, id + 1) - string_begin(state_.view, id);
    const auto is_space = [string](uint32_t at) {
      return string[at] == 0xC4 && string[at + 1] == 0xA0;
    };
    OuterSpace space = {0, 0};
    for (uint32_t at = 0; at + 2 <= bytes && is_space(at); at += 2) ++space.leading;
    for (uint32_t at = bytes; at >= 2 && is_space(at - 2); at -= 2) ++space.trailing;
    return space;
  }

  // Finds the next added token of the normalised text.
  Stretch find_stretch(const ComposedStream& from) const {
    Stretch stretch = {.chars = UINT32_MAX,
                       .byte_end = end_,
                       .has_token = false,
                       .token = 0,
                       .token_offsets = {},
                       .rest = from};
    if ((state_.view.header->flags & kTokenizerHasNormalizedTokens) == 0) return stretch;
    ComposedStream stream = from;
    SourceOffsets blank = {};  // the first of the white space before the present character
    uint32_t blanks = 0;       // and how many
    bool blank_is_idle = true;
    for (uint32_t chars = 0;; ++chars) {
      const uint32_t skipped = stream.skip_plain(state_.view.normalized_first_bytes);
      chars += skipped;
      if (skipped != 0) blanks = 0;
      const ComposedStream bookmark = stream;
      NormalizedChar c;
      if (!stream.next(&c)) return stretch;
      uint8_t utf8[4];
      encode_utf8(c.code_point, utf8);
      ComposedStream rest = bookmark;
      uint32_t index = kNoToken;
      SourceOffsets last = {};
      if (has_bit(state_.view.normalized_first_bytes, utf8[0]) &&
          match_normalized_token(state_.view, &rest, &index, &last)) {
        const uint32_t flags = state_.view.added_tokens[index].flags;
        const bool strips = (flags & kAddedTokenStripLeft) != 0 && blanks != 0;
        const SourceOffsets first = strips ? blank : c.offsets;
        if ((flags & kAddedTokenStripRight) != 0) skip_blanks(&rest, &last);
        const bool idle = strips ? blank_is_idle : bookmark.idle();
        stretch = {.chars = strips ? chars - blanks : chars,
                   .byte_end = idle ? first.byte_start : 0,
                   .has_token = true,
                   .token = index,
                   .token_offsets = {first.byte_start, last.byte_end, first.char_index,
                                     last.char_index + 1},
                   .rest = rest};
        return stretch;
      }
      if (is_white_space(c.code_point)) {
        if (blanks == 0) {
          blank = c.offsets;
          blank_is_idle = bookmark.idle();
        }
        ++blanks;
      } else {
        blanks = 0;
      }
    }
  }

  static void skip_blanks(ComposedStream* stream, SourceOffsets* last) {
    for (;;) {
      ComposedStream ahead = *stream;
      NormalizedChar c;
      if (!ahead.next(&c) || !is_white_space(c.code_point)) return;
      *last = c.offsets;
      *stream = ahead;
    }
  }

  void encode_stretch(ComposedStream* stream, const Stretch& stretch) {
    bool prefix = false;
    if ((part_.header->flags & kBytePairPrefixSpace) != 0 && stretch.chars != 0) {
      ComposedStream ahead = *stream;
      NormalizedChar c;
      prefix = ahead.next(&c) && c.code_point != ' ';
    }
    for (uint32_t left = stretch.chars; left != 0;) {
      uint32_t chars = 0;
      if (!prefix && stream->idle()) chars = encode_plain_word(stream, stretch.byte_end);
      if (chars == 0) {
        StreamReader reader = {*stream, prefix, left, {0, 0}};
        const WordSize size = measure_word(reader, split_);
        if (size.bytes == 0) return;
        encode_stream_word(stream, prefix, size.bytes);
        chars = size.chars;
      }
      prefix = false;
      if (left != UINT32_MAX) left -= chars;
    }
  }

  // Encodes a word that stands in the text as it is, and moves the stream behind it. Returns its
  // characters, or 0 if the word has to be read through the normaliser.
  uint32_t encode_plain_word(ComposedStream* stream, uint32_t byte_end) {
    const TextCursor from = stream->cursor();
    if (from.byte >= byte_end) return 0;
    PlainReader reader = {.text = state_.text,
                          .begin = from.byte,
                          .end = byte_end,
                          .compose = compose_,
                          .at = from.byte,
                          .chars = 0,
                          .plain = true};
    const WordSize size = measure_word(reader, split_);
    if (!reader.plain) return 0;
    const uint32_t behind = from.byte + size.bytes;
    if (compose_ && behind < end_) {
      const Utf8Char next = decode_utf8(state_.text + behind, state_.text + end_);
      if ((unicode::text_class(next.code_point) & unicode::kComposes) != 0) return 0;
    }
    const uint8_t* const word = state_.text + from.byte;
    PlainSink sink = {.encoder = *this,
                      .word = word,
                      .from = from,
                      .size = size,
                      .byte = 0,
                      .index = from.character};
    const uint32_t whole = find_symbol(word, size.bytes);
    if (whole != kNoSymbol) {
      sink.emit(whole, 0, size.bytes);
    } else {
      PlainBytes bytes = {word};
      BytePairEncoder<PlainBytes, PlainSink>(part_.tables, bytes, sink).encode(size.bytes);
    }
    ++state_.word;
    *stream = ComposedStream(state_.text, {behind, from.character + size.chars}, end_, compose_);
    return size.chars;
  }

  // The symbol of exactly these bytes.
  uint32_t find_symbol(const uint8_t* bytes, uint32_t length) const {
    if (length > kMaxTokenBytes) return kNoSymbol;
    const uint32_t* const units = part_.tables.units;
    uint32_t base = part_.tables.root;
    for (uint32_t i = 0; i < length; ++i) {
      const uint32_t unit = child_unit(units, base, bytes[i]);
      if (unit == 0) return kNoSymbol;
      base = unit >> kUnitPayloadShift;
      if ((unit & kUnitIsLeaf) != 0) return i + 1 == length ? base : kNoSymbol;
      if (i + 1 == length && (unit & kUnitHasValue) != 0) return units[base] >> kUnitPayloadShift;
    }
    return kNoSymbol;
  }

  struct PlainBytes {
    const uint8_t* word;
    uint8_t at(uint32_t i) const { return word[i]; }
    void rewind(uint32_t) {}
  };

  struct PlainSink {
    ByteLevelEncoder& encoder;
    const uint8_t* word;
    TextCursor from;
    WordSize size;
    uint32_t byte;   // begin of the character that was looked at last
    uint32_t index;  // its number in the text

    void emit(uint32_t symbol, uint32_t begin, uint32_t end) {
      TokenOffsets offsets = {};
      if (encoder.state_.sink.wants_offsets()) {
        // A symbol may begin and end within a character: it has the place of the whole.
        while (byte < begin) step();
        if (byte > begin) back();
        offsets.byte_start = from.byte + byte;
        offsets.char_start = index;
        while (byte < end) step();
        offsets.byte_end = from.byte + byte;
        offsets.char_end = index;
      }
      encoder.emit_symbol(symbol, offsets);
    }
    void step() {
      do {
        ++byte;
      } while (byte < size.bytes && (word[byte] & 0xC0) == 0x80);
      ++index;
    }
    void back() {
      do {
        --byte;
      } while ((word[byte] & 0xC0) == 0x80);
      --index;
    }
  };

  // Encodes a word of the normalised text and moves the stream behind it.
  void encode_stream_word(ComposedStream* stream, bool prefix, uint32_t bytes) {
    WordCursor cursor = {*stream, prefix, {}, 0};
    StreamSink sink = {*this, cursor};
    StreamBytes ring = {cursor, cursor, {}, 0};
    BytePairEncoder<StreamBytes, StreamSink>(part_.tables, ring, sink).encode(bytes);
    ++state_.word;
    *stream = cursor.stream;
  }

  struct StreamSink {
    ByteLevelEncoder& encoder;
    WordCursor& cursor;

    void emit(uint32_t symbol, uint32_t begin, uint32_t end) {
      const SourceOffsets first = cursor.offsets_of(begin);
      const SourceOffsets& last = cursor.offsets_of(end - 1);
      encoder.emit_symbol(symbol,
                          {first.byte_start, last.byte_end, first.char_index, last.char_index + 1});
    }
  };

  // The last bytes of a word that have been asked for.
  struct StreamBytes {
    static constexpr uint32_t kRing = 512;

    const WordCursor& emitted;  // stands where the sink stands
    WordCursor ahead;
    uint8_t ring[kRing];
    uint32_t filled;

    uint8_t at(uint32_t i) {
      while (filled <= i) {
        ahead.next();
        store();
      }
      return ring[i % kRing];
    }
    void rewind(uint32_t) {
      ahead = emitted;
      store();
    }
    void store() {
      uint8_t utf8[4];
      const uint32_t bytes = encode_utf8(ahead.c.code_point, utf8);
      for (uint32_t i = 0; i < bytes; ++i) ring[(ahead.bytes - bytes + i) % kRing] = utf8[i];
      filled = ahead.bytes;
    }
  };

  SequenceState& state_;
  const BytePairSection part_;
  uint32_t end_;
  bool compose_;
  bool split_;
};

}  // namespace

void encode_bpe(SequenceState& state, uint32_t end) { ByteLevelEncoder(state, end).run(); }

}  // namespace embert
