// SPDX-License-Identifier: Apache-2.0
// Splits a text into words, and words into pieces. Plain ASCII words, which are nearly all words of
// most texts, are read straight from the text. Everything else goes through the normaliser.
#include "runtime/tokenizer/normalized_tokens.hpp"
#include "runtime/tokenizer/sequence_encoder.hpp"
#include "runtime/tokenizer/vocabulary.hpp"
#include "runtime/tokenizer/wordpiece/text_stream.hpp"
#include "runtime/tokenizer/wordpiece/unicode_tables.hpp"

namespace embert {
namespace {

enum AsciiClass : uint8_t { kWord, kBlank, kMarkOfPunctuation, kControl, kBeyond };

inline AsciiClass classify(uint8_t byte) {
  constexpr uint8_t C = kControl, B = kBlank, P = kMarkOfPunctuation, W = kWord;
  static constexpr uint8_t kClasses[128] = {
      C, C, C, C, C, C, C, C, C, B, B, C, C, B, C, C, C, C, C, C, C, C, C, C, C, C,
      C, C, C, C, C, C, B, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, W, W, W, W,
      W, W, W, W, W, W, P, P, P, P, P, P, P, W, W, W, W, W, W, W, W, W, W, W, W, W,
      W, W, W, W, W, W, W, W, W, W, W, W, W, P, P, P, P, P, P, W, W, W, W, W, W, W,
      W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, P, P, P, P, C,
  };
  return byte < 0x80 ? static_cast<AsciiClass>(kClasses[byte]) : kBeyond;
}

bool is_space(uint32_t code_point) {
  return (unicode::properties(code_point).flags & unicode::kSpace) != 0;
}

// A word of adjacent ASCII characters of the text.
struct PlainWord {
  const uint8_t* bytes;
  uint32_t length;
  uint32_t byte_start;
  uint32_t char_start;

  TokenOffsets offsets(uint32_t begin, uint32_t end) {
    return {byte_start + begin, byte_start + end, char_start + begin, char_start + end};
  }
  TokenOffsets whole() { return offsets(0, length); }
};

// A word as it comes out of the normaliser. It keeps max_word_chars characters: a longer word is
// unknown, whatever it is. It does not keep its characters' offsets but reads them again from a
// bookmark: the offsets of 200 characters would take most of a small machine's stack.
struct NormalizedWord {
  uint8_t bytes[4 * kMaxWordChars];
  uint32_t length = 0;
  uint32_t characters = 0;
  SourceOffsets first = {}, last = {};
  TextStream originals;   // stands before the character that comes next
  SourceOffsets at = {};  // of the character that it gave last
  uint32_t counted = 0;   // bytes of the characters that it gave

  explicit NormalizedWord(const TextStream& stream) : originals(stream) {}

  // Empties the word. Its first character will be the next one of `stream`.
  void begin(const TextStream& stream) {
    length = characters = counted = 0;
    originals = stream;
  }

  void append(const NormalizedChar& c, uint32_t limit) {
    if (characters < limit) length += encode_utf8(c.code_point, bytes + length);
    if (characters == 0) first = c.offsets;
    last = c.offsets;
    ++characters;
  }

  // Offsets of the character that a byte belongs to. Must be asked for bytes in rising order.
  const SourceOffsets& offsets_of(uint32_t byte) {
    for (; counted <= byte; ++counted) {
      NormalizedChar c;
      if ((bytes[counted] & 0xC0) != 0x80 && originals.next(&c)) at = c.offsets;
    }
    return at;
  }

  TokenOffsets offsets(uint32_t begin, uint32_t end) {
    if (begin == 0 && end == length) return whole();
    const SourceOffsets from = offsets_of(begin), &to = offsets_of(end - 1);
    return {from.byte_start, to.byte_end, from.char_index, to.char_index + 1};
  }
  TokenOffsets whole() const {
    return {first.byte_start, last.byte_end, first.char_index, last.char_index + 1};
  }
};

class WordPieceEncoder {
 public:
  explicit WordPieceEncoder(SequenceState& state)
      : view_(state.view),
        text_(state.text),
        sink_(state.sink),
        flags_(state.view.header->flags),
        cursor_(state.cursor),
        word_(state.word) {}

  // Encodes the text from the cursor to `end`.
  void encode_piece(uint32_t end) {
    if ((flags_ & kTokenizerHasNormalizedTokens) != 0) {
      encode_normalized(end);
      return;
    }
    const bool clean = (flags_ & kTokenizerCleanText) != 0;
    while (cursor_.byte < end) {
      switch (classify(text_[cursor_.byte])) {
        case kBlank:
          advance(1);
          break;
        case kMarkOfPunctuation:
          encode_word(PlainWord{text_ + cursor_.byte, 1, cursor_.byte, cursor_.character});
          advance(1);
          break;
        case kWord:
          if (!encode_plain_word(end)) encode_normalized(end);
          break;
        case kControl:
          if (clean) {
            advance(1);
            break;
          }
          encode_normalized(end);
          break;
        case kBeyond:
          encode_normalized(end);
          break;
      }
    }
  }

 private:
  void advance(uint32_t characters) {
    cursor_.byte += characters;
    cursor_.character += characters;
  }

  // Returns false and does nothing if a character other than a blank or ASCII punctuation follows
  // the word.
  bool encode_plain_word(uint32_t end) {
    const uint8_t* const word = text_ + cursor_.byte;
    const uint32_t limit = end - cursor_.byte;
    const bool lowercase = (flags_ & kTokenizerLowercase) != 0;
    uint8_t lowered[kMaxWordChars];
    uint32_t length = 0;
    AsciiClass after = kBlank;
    for (; length < limit; ++length) {
      const uint8_t byte = word[length];
      after = classify(byte);
      if (after != kWord) break;
      if (lowercase && length < kMaxWordChars) {
        lowered[length] =
            static_cast<uint8_t>(byte + (static_cast<uint8_t>(byte - 'A') < 26 ? 32 : 0));
      }
    }
    if (length < limit && after != kBlank && after != kMarkOfPunctuation) return false;
    PlainWord plain = {lowercase ? lowered : word, length, cursor_.byte, cursor_.character};
    if (length > view_.header->max_word_chars) {
      sink_.emit(view_.header->unk_id, plain.whole(), word_++);
    } else {
      encode_word(plain);
    }
    advance(length);
    return true;
  }

  template <typename Word>
  void encode_word(Word&& word) {
    const uint32_t before = sink_.count;
    PieceTrie trie = {view_.header->word_root, 0};
    for (uint32_t at = 0; at < word.length;) {
      uint32_t id = 0;
      const uint32_t piece = longest_piece(view_, trie, word.bytes + at, word.length - at, &id);
      if (piece == 0) {
        // One unknown part makes the whole word unknown: [UNK] overwrites the pieces so far.
        sink_.count = before;
        sink_.emit(view_.header->unk_id, word.whole(), word_++);
        return;
      }
      sink_.emit(id, sink_.wants_offsets() ? word.offsets(at, at + piece) : TokenOffsets{}, word_);
      at += piece;
      trie = {view_.header->continuation_root, view_.header->prefix_bytes};
    }
    ++word_;
  }

  void flush(NormalizedWord* word) {
    if (word->characters > view_.header->max_word_chars) {
      sink_.emit(view_.header->unk_id, word->whole(), word_++);
    } else if (word->characters != 0) {
      encode_word(*word);
    }
    word->characters = word->length = 0;
  }

  // Reads through the normaliser, to the end or to where plain words can be read again.
  void encode_normalized(uint32_t end) {
    const bool match_tokens = (flags_ & kTokenizerHasNormalizedTokens) != 0;
    TextStream stream(text_, cursor_, end, flags_);
    NormalizedWord word(stream);
    SourceOffsets blank = {};  // the first of the white space before the current character
    bool after_blank = false;
    for (;;) {
      if (word.characters == 0) word.begin(stream);
      NormalizedChar c;
      if (match_tokens) {
        const TextStream bookmark = stream;
        if (!stream.next(&c)) break;
        uint8_t utf8[4];
        encode_utf8(c.code_point, utf8);
        if (has_bit(view_.normalized_first_bytes, utf8[0])) {
          TextStream rest = bookmark;
          uint32_t index = kNoToken;
          SourceOffsets last = {};
          if (match_normalized_token(view_, &rest, &index, &last)) {
            flush(&word);
            emit_normalized_token(index, after_blank ? blank : c.offsets, c.offsets, last, &rest);
            stream = rest;
            after_blank = false;
            continue;
          }
        }
      } else if (!stream.next(&c)) {
        break;
      }
      const uint8_t flags = unicode::properties(c.code_point).flags;
      if ((flags & unicode::kSpace) != 0) {
        flush(&word);
        if (!after_blank) blank = c.offsets;
        after_blank = true;
      } else {
        after_blank = false;
        if ((flags & unicode::kPunctuation) != 0) flush(&word);
        word.append(c, view_.header->max_word_chars);
        if ((flags & unicode::kPunctuation) != 0) flush(&word);
      }
      if (!match_tokens && word.characters == 0 && stream.idle()) {
        const TextCursor at = stream.cursor();
        if (at.byte < end && text_[at.byte] < 0x80) break;
      }
    }
    flush(&word);
    cursor_ = stream.cursor();
  }

  void emit_normalized_token(uint32_t index, const SourceOffsets& blank, const SourceOffsets& first,
                             SourceOffsets last, TextStream* rest) {
    const AddedTokenRecord& token = view_.added_tokens[index];
    const SourceOffsets& from = (token.flags & kAddedTokenStripLeft) != 0 ? blank : first;
    while ((token.flags & kAddedTokenStripRight) != 0) {
      TextStream ahead = *rest;
      NormalizedChar c;
      if (!ahead.next(&c) || !is_space(c.code_point)) break;
      last = c.offsets;
      *rest = ahead;
    }
    sink_.emit(token.id, {from.byte_start, last.byte_end, from.char_index, last.char_index + 1},
               word_++);
  }

  const TokenizerView& view_;
  const uint8_t* text_;
  TokenSink& sink_;
  uint32_t flags_;
  TextCursor& cursor_;
  uint32_t& word_;
};

}  // namespace

void encode_wordpiece(SequenceState& state, uint32_t end) {
  WordPieceEncoder(state).encode_piece(end);
}

}  // namespace embert
