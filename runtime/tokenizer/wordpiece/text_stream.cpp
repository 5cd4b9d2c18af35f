// SPDX-License-Identifier: Apache-2.0
// The normaliser. The hard case is canonical ordering: NFD sorts each run of combining marks by
// class, and a few marks survive stripping. A run may be as long as the text, so the stream does
// not store it but reads it again for every class that survives in it. There are about a dozen such
// classes, so the time is linear.
#include "runtime/tokenizer/wordpiece/text_stream.hpp"

#include "runtime/format/tokenizer_format.hpp"
#include "runtime/tokenizer/hangul.hpp"
#include "runtime/tokenizer/wordpiece/unicode_tables.hpp"

namespace embert {
namespace {

constexpr uint32_t kCapitalIWithDot = 0x130;  // the only one with two code points in lower case
constexpr uint32_t kCombiningDotAbove = 0x307;
constexpr uint32_t kNoClass = 256;

}  // namespace

bool TextStream::read_clean(TextCursor* cursor, NormalizedChar* out) const {
  while (cursor->byte < end_) {
    const Utf8Char in = decode_utf8(text_ + cursor->byte, text_ + end_);
    out->offsets = {cursor->byte, cursor->byte + in.bytes, cursor->character};
    cursor->byte += in.bytes;
    cursor->character += 1;
    out->code_point = in.code_point;
    if ((flags_ & kTokenizerCleanText) != 0) {
      const uint8_t flags = unicode::properties(in.code_point).flags;
      if ((flags & unicode::kRemoved) != 0) continue;
      if ((flags & unicode::kSpace) != 0) out->code_point = ' ';
    }
    return true;
  }
  return false;
}

// False at the end of the run. The reader then stands before the code point that ends it.
bool TextStream::read_mark(MarkReader* reader, Mark* mark) const {
  if (reader->tail_next < reader->tail_count) {
    mark->survivor = reader->tail[reader->tail_next++];
    mark->combining_class = unicode::properties(mark->survivor).combining_class;
    mark->inserted = true;
    return true;
  }
  TextCursor ahead = reader->cursor;
  NormalizedChar in;
  if (!read_clean(&ahead, &in)) return false;
  const unicode::Properties& properties = unicode::properties(in.code_point);
  if (properties.combining_class == 0) return false;
  reader->cursor = ahead;
  mark->survivor = (properties.flags & unicode::kMark) != 0 ? 0 : in.code_point;
  mark->combining_class = properties.combining_class;
  mark->inserted = false;
  return true;
}

// Selects the lowest class above `above` that has a surviving mark. run_.rank becomes the number of
// the text's marks that sort before it.
bool TextStream::select_class(uint32_t above) {
  uint32_t selected = kNoClass;
  MarkReader reader = run_.start;
  Mark mark;
  while (read_mark(&reader, &mark)) {
    if (mark.survivor != 0 && mark.combining_class > above && mark.combining_class < selected) {
      selected = mark.combining_class;
    }
  }
  cursor_ = reader.cursor;
  run_.active = selected != kNoClass;
  if (!run_.active) return false;
  run_.combining_class = static_cast<uint8_t>(selected);
  run_.rank = 0;
  reader = run_.start;
  while (read_mark(&reader, &mark)) {
    if (mark.combining_class < selected && !mark.inserted) ++run_.rank;
  }
  run_.reader = run_.start;
  return true;
}

bool TextStream::begin_run(const MarkReader& start, const SourceOffsets& before) {
  run_.start = start;
  run_.originals = start.cursor;
  run_.offsets = before;
  run_.originals_read = 0;
  return select_class(0);
}

// The k-th mark of the sorted run gets the offsets of the k-th mark of the text. An inserted mark
// belongs to no code point of the text: it gets the offsets of the mark sorted before it.
bool TextStream::next_in_run(NormalizedChar* out) {
  while (run_.active) {
    Mark mark;
    while (read_mark(&run_.reader, &mark)) {
      if (mark.combining_class != run_.combining_class) continue;
      if (!mark.inserted) ++run_.rank;
      if (mark.survivor == 0) continue;
      while (run_.originals_read < run_.rank) {
        NormalizedChar original;
        if (!read_clean(&run_.originals, &original)) break;
        run_.offsets = original.offsets;
        ++run_.originals_read;
      }
      *out = {mark.survivor, run_.offsets};
      return true;
    }
    select_class(run_.combining_class);
  }
  return false;
}

void TextStream::push(uint32_t code_point, const SourceOffsets& offsets) {
  pending_offsets_ = offsets;
  pending_[pending_end_++] = code_point;
}

void TextStream::push_lowercase(uint32_t code_point, const SourceOffsets& offsets) {
  if ((flags_ & kTokenizerLowercase) == 0) {
    push(code_point, offsets);
  } else if (code_point == kCapitalIWithDot) {
    push('i', offsets);
    push(kCombiningDotAbove, offsets);
  } else {
    const int32_t delta = unicode::properties(code_point).lowercase_delta;
    push(static_cast<uint32_t>(static_cast<int32_t>(code_point) + delta), offsets);
  }
}

void TextStream::push_stripped(const NormalizedChar& in, uint8_t flags) {
  uint32_t parts[3] = {};
  if (is_hangul(in.code_point)) {
    const uint32_t count = hangul_parts(in.code_point, parts);
    for (uint32_t i = 0; i < count; ++i) push(parts[i], in.offsets);
    return;
  }
  if ((flags & unicode::kDecomposes) == 0) {
    push_lowercase(in.code_point, in.offsets);
    return;
  }
  const uint32_t count = unicode::decomposition(in.code_point, parts);
  push_lowercase(parts[0], in.offsets);
  if (count == 1) return;
  if (unicode::properties(parts[1]).combining_class == 0) {
    for (uint32_t i = 1; i < count; ++i) push_lowercase(parts[i], in.offsets);
    return;
  }
  MarkReader start = {cursor_, {parts[1], count == 3 ? parts[2] : 0}, count - 1, 0};
  begin_run(start, in.offsets);
}

bool TextStream::next(NormalizedChar* out) {
  const bool strip = (flags_ & kTokenizerStripAccents) != 0;
  for (;;) {
    if (pending_begin_ != pending_end_) {
      *out = {pending_[pending_begin_++], pending_offsets_};
      return true;
    }
    pending_begin_ = 0;
    pending_end_ = 0;
    if (run_.active) {
      NormalizedChar in;
      if (next_in_run(&in)) push_lowercase(in.code_point, in.offsets);
      continue;
    }
    const TextCursor before = cursor_;
    NormalizedChar in;
    if (!read_clean(&cursor_, &in)) return false;
    if (in.code_point < 0x80 && (flags_ & kTokenizerLowercase) == 0) {
      *out = in;
      return true;
    }
    const unicode::Properties& properties = unicode::properties(in.code_point);
    if (strip && properties.combining_class != 0) {
      begin_run({before, {0, 0}, 0, 0}, in.offsets);
      continue;
    }
    if (strip && (properties.flags & unicode::kMark) != 0) continue;
    const bool cjk = (properties.flags & unicode::kCjk) != 0 && (flags_ & kTokenizerSplitCjk) != 0;
    if (cjk) push(' ', in.offsets);
    if (strip) {
      push_stripped(in, properties.flags);
    } else {
      push_lowercase(in.code_point, in.offsets);
    }
    if (cjk) push(' ', in.offsets);
  }
}

}  // namespace embert
