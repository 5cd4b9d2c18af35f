// SPDX-License-Identifier: Apache-2.0
// NFC without a buffer. A segment is a starter and the marks behind it; where it has no mark that
// stays, starters that compose with it join it (the parts of Hangul, some vowel signs). Two passes
// over the segment's marks in canonical order give the composed starter first, then the marks that
// it does not take in.
#include "runtime/tokenizer/bpe/composed_stream.hpp"

#include "runtime/tokenizer/bpe/byte_level_tables.hpp"
#include "runtime/tokenizer/hangul.hpp"
#include "runtime/tokenizer/vocabulary.hpp"
#include "runtime/tokenizer/wordpiece/unicode_tables.hpp"

namespace embert {
namespace unicode {
namespace {

constexpr uint32_t kIdeographFirst = 0xF900, kIdeographEnd = 0xFB00;
constexpr uint32_t kSupplementFirst = 0x2F800, kSupplementEnd = 0x2FA20;

// Takes off the last part. False if the code point has no decomposition.
bool take_apart(uint32_t code_point, uint32_t* first, uint32_t* second) {
  if (code_point < 0xC0) return false;
  if (code_point >= kIdeographFirst) {
    const bool ideograph = (code_point >= kIdeographFirst && code_point < kIdeographEnd) ||
                           (code_point >= kSupplementFirst && code_point < kSupplementEnd);
    if (ideograph) {
      if ((properties(code_point).flags & kDecomposes) == 0) return false;
      uint32_t parts[3] = {};
      decomposition(code_point, parts);
      *first = parts[0];
      *second = 0;
      return true;
    }
    for (uint32_t i = 0; i < kLargeDecompositionCount; ++i) {
      if (kLargeCompositions[i].composed != code_point) continue;
      *first = kLargeCompositions[i].first;
      *second = kLargeCompositions[i].second;
      return true;
    }
    return false;
  }
  const uint32_t i = first_not_before(kSmallCompositionCount, [&](uint32_t row) {
    return kSmallCompositions[row].composed < code_point;
  });
  if (i == kSmallCompositionCount || kSmallCompositions[i].composed != code_point) return false;
  *first = kSmallCompositions[i].first;
  *second = kSmallCompositions[i].second;
  return true;
}

}  // namespace

uint32_t canonical_decomposition(uint32_t code_point, uint32_t parts[4]) {
  uint32_t reversed[3];
  uint32_t count = 0;
  uint32_t first = code_point, second = 0;
  while (count < 3 && take_apart(first, &first, &second)) {
    if (second != 0) reversed[count++] = second;
  }
  parts[0] = first;
  for (uint32_t i = 0; i < count; ++i) parts[1 + i] = reversed[count - 1 - i];
  return 1 + count;
}

uint32_t canonical_composition(uint32_t first, uint32_t second) {
  const uint32_t initial = first - kHangulInitialFirst, vowel = second - kHangulVowelFirst;
  if (initial < kHangulInitials && vowel < kHangulVowels) {
    return kHangulFirst + (initial * kHangulVowels + vowel) * kHangulFinals;
  }
  const uint32_t last = second - kHangulFinalBase;
  if (is_hangul(first) && (first - kHangulFirst) % kHangulFinals == 0 && last != 0 &&
      last < kHangulFinals) {
    return first + last;
  }
  if (first > 0xFFFF) {
    for (uint32_t i = 0; i < kLargeCompositionCount; ++i) {
      const LargeComposition& row = kLargeCompositions[i];
      if (row.first == first && row.second == second) return row.composed;
    }
    return 0;
  }
  const uint32_t i = first_not_before(kComposingCount, [&](uint32_t place) {
    const SmallComposition& row = kSmallCompositions[kComposingOrder[place]];
    return row.second < second || (row.second == second && row.first < first);
  });
  if (i == kComposingCount) return 0;
  const SmallComposition& row = kSmallCompositions[kComposingOrder[i]];
  return row.first == first && row.second == second ? row.composed : 0;
}

}  // namespace unicode

bool ComposedStream::read_char(TextCursor* cursor, NormalizedChar* out) const {
  if (cursor->byte >= end_) return false;
  const Utf8Char in = decode_utf8(text_ + cursor->byte, text_ + end_);
  *out = {in.code_point, {cursor->byte, cursor->byte + in.bytes, cursor->character}};
  cursor->byte += in.bytes;
  cursor->character += 1;
  return true;
}

bool ComposedStream::read_part(Reader* reader, Part* part) const {
  if (reader->tail_next < reader->tail_count) {
    part->code_point = reader->tail[reader->tail_next++];
    part->inserted = 1;
  } else {
    NormalizedChar in;
    if (!read_char(&reader->cursor, &in)) return false;
    uint32_t parts[4];
    reader->tail_count = unicode::canonical_decomposition(in.code_point, parts) - 1;
    reader->tail_next = 0;
    for (uint32_t i = 0; i < reader->tail_count; ++i) reader->tail[i] = parts[1 + i];
    part->code_point = parts[0];
    part->inserted = 0;
  }
  part->combining_class = unicode::properties(part->code_point).combining_class;
  return true;
}

void ComposedStream::begin_marks(const Reader& begin, Marks* marks) const {
  *marks = {begin, begin, begin, 0};
}

// Selects the lowest class of the run above the present one.
bool ComposedStream::select_class(Marks* marks) const {
  uint32_t selected = UINT32_MAX;
  Reader reader = marks->begin;
  for (;;) {
    marks->end = reader;
    Part part;
    if (!read_part(&reader, &part) || part.combining_class == 0) break;
    if (part.combining_class > marks->combining_class && part.combining_class < selected)
      selected = part.combining_class;
  }
  marks->combining_class = selected;
  marks->at = marks->begin;
  return selected != UINT32_MAX;
}

bool ComposedStream::next_mark(Marks* marks, Part* mark) const {
  for (;;) {
    if (marks->combining_class != 0) {
      while (read_part(&marks->at, mark) && mark->combining_class != 0) {
        if (mark->combining_class == marks->combining_class) return true;
      }
    }
    if (!select_class(marks)) return false;
  }
}

// The next mark that the starter does not take in; the starter takes in those before it. A mark is
// blocked by one before it that stays and has its class.
bool ComposedStream::next_blocked(Part* starter, Part* mark) {
  while (next_mark(&marks_, mark)) {
    if (starter->code_point != 0 && mark->combining_class > blocked_class_) {
      const uint32_t both = unicode::canonical_composition(starter->code_point, mark->code_point);
      if (both != 0) {
        starter->code_point = both;
        starter->inserted += mark->inserted - 1;
        continue;
      }
    }
    blocked_class_ = mark->combining_class;
    return true;
  }
  return false;
}

void ComposedStream::begin_segment() {
  Part part;
  Reader behind = reader_;
  read_part(&behind, &part);
  active_ = true;
  has_starter_ = part.combining_class == 0;
  // Marks at the begin of a text have no starter.
  composed_ = has_starter_ ? part : Part{0, 0, 0};
  if (!has_starter_) behind = reader_;
  for (;;) {
    starter_ = composed_;
    begin_marks(behind, &marks_);
    blocked_class_ = 0;
    bool blocked = false;
    while (next_blocked(&composed_, &part)) blocked = true;
    reader_ = marks_.end;
    if (blocked || !has_starter_) break;
    behind = reader_;
    if (!read_part(&behind, &part)) break;
    const uint32_t both = unicode::canonical_composition(composed_.code_point, part.code_point);
    if (both == 0) break;
    composed_.code_point = both;
    composed_.inserted += part.inserted - 1;
  }
  begin_marks(marks_.begin, &marks_);
  blocked_class_ = 0;
}

// Gives the part its place in the text: one that is inserted has that of the code point before it;
// any other takes the next code point of the text, and as many behind it as it has taken in.
NormalizedChar ComposedStream::place(const Part& part) {
  NormalizedChar original = {0, last_};
  if (part.inserted <= 0) {
    read_char(&originals_, &original);
    last_ = original.offsets;
  }
  const NormalizedChar out = {part.code_point, original.offsets};
  for (int32_t skipped = part.inserted; skipped < 0; ++skipped) {
    if (read_char(&originals_, &original)) last_ = original.offsets;
  }
  return out;
}

uint32_t ComposedStream::skip_plain(const uint32_t stops[8]) {
  if (!idle()) return 0;
  TextCursor at = originals_;
  uint32_t count = 0;
  NormalizedChar c;
  for (TextCursor behind = at; read_char(&behind, &c); at = behind) {
    if (compose_ && (unicode::text_class(c.code_point) & unicode::kComposes) != 0) {
      if (count == 0) return 0;
      // It may compose with the character before it.
      at = originals_;
      --count;
      break;
    }
    // A byte that is not UTF-8 is given as U+FFFD, so its own byte says nothing about `stops`.
    if (has_bit(stops, text_[at.byte]) || c.code_point == kReplacementCharacter ||
        is_white_space(c.code_point)) {
      break;
    }
    originals_ = at;
    ++count;
  }
  originals_ = reader_.cursor = at;
  return count;
}

bool ComposedStream::next(NormalizedChar* out) {
  if (!compose_) {
    if (!read_char(&originals_, out)) return false;
    reader_.cursor = originals_;
    return true;
  }
  for (;;) {
    if (active_) {
      if (has_starter_) {
        has_starter_ = false;
        *out = place(composed_);
        return true;
      }
      Part mark;
      if (next_blocked(&starter_, &mark)) {
        *out = place(mark);
        return true;
      }
      active_ = false;
    }
    if (reader_.tail_next == reader_.tail_count) {
      TextCursor behind = originals_;
      if (!read_char(&behind, out)) return false;
      const bool alone = (unicode::text_class(out->code_point) & unicode::kComposes) == 0;
      NormalizedChar ahead;
      TextCursor second = behind;
      if (alone && (!read_char(&second, &ahead) ||
                    (unicode::text_class(ahead.code_point) & unicode::kComposes) == 0)) {
        originals_ = behind;
        reader_.cursor = behind;
        last_ = out->offsets;
        return true;
      }
    }
    begin_segment();
  }
}

}  // namespace embert
