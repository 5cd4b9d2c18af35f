// SPDX-License-Identifier: Apache-2.0
// Replace of strings, NFKD, StripAccents, Lowercase. Offsets follow the package tokenizers: the
// first code point of a decomposition takes the place of the next original one, further ones share
// the place of the one before, and canonical ordering moves code points but not places.
#include "runtime/tokenizer/unigram/decomposed_stream.hpp"

#include "runtime/tokenizer/hangul.hpp"
#include "runtime/tokenizer/unigram/nfkd_tables.hpp"

namespace embert {
namespace {

constexpr uint32_t kCapitalIWithDot = 0x130;  // the only one with two code points in lower case
constexpr uint32_t kCombiningDotAbove = 0x307;
constexpr uint32_t kNoClass = 256;

}  // namespace

bool SourceStream::match(const UnigramReplace& replace, NormalizedChar* out) {
  TextCursor ahead = cursor_;
  for (uint32_t i = 1; i < replace.length; ++i) {
    if (ahead.byte >= end_) return false;
    const Utf8Char in = decode_utf8(text_ + ahead.byte, text_ + end_);
    if (in.code_point != replace.pattern[i]) return false;
    out->offsets = {ahead.byte, ahead.byte + in.bytes, ahead.character};
    ahead.byte += in.bytes;
    ++ahead.character;
  }
  cursor_ = ahead;
  out->code_point = replace.content;
  return true;
}

bool SourceStream::next(NormalizedChar* out) {
  if (cursor_.byte >= end_) return false;
  const Utf8Char in = decode_utf8(text_ + cursor_.byte, text_ + end_);
  const NormalizedChar c = {in.code_point,
                            {cursor_.byte, cursor_.byte + in.bytes, cursor_.character}};
  cursor_.byte += in.bytes;
  ++cursor_.character;
  *out = c;
  for (const UnigramReplace& replace : header_->replace) {
    if (replace.length == 0) break;
    if (replace.pattern[0] == c.code_point && match(replace, out)) return true;
    *out = c;
  }
  return true;
}

uint32_t DecomposedStream::PartReader::take_unit() {
  if (is_hangul(place)) {
    uint32_t parts[3];
    hangul_parts(place, parts);
    return parts[next_unit++];
  }
  const uint16_t* const pool = nfkd::kPool + place + 1;
  const uint32_t unit = pool[next_unit++];
  if (unit < 0xD800 || unit >= 0xDC00) return unit;
  return 0x10000 + ((unit - 0xD800) << 10) + (pool[next_unit++] - 0xDC00u);
}

bool DecomposedStream::PartReader::read(Part* part) {
  part->inserted = pending();
  if (!pending()) {
    NormalizedChar c;
    if (!source.next(&c)) return false;
    offsets = c.offsets;
    next_unit = units = 0;
    if (is_hangul(c.code_point)) {
      place = c.code_point;
      uint32_t parts[3];
      units = static_cast<uint8_t>(hangul_parts(place, parts));
    } else if (c.code_point >= 0x80) {
      place = nfkd::decomposition(c.code_point);
      if (place != 0) units = static_cast<uint8_t>(nfkd::kPool[place]);
    }
    if (units == 0) {
      *part = {c, nfkd::properties(c.code_point).combining_class, false};
      return true;
    }
  }
  part->c = {take_unit(), offsets};
  part->combining_class = nfkd::properties(part->c.code_point).combining_class;
  return true;
}

bool DecomposedStream::survives(uint32_t code_point) const {
  return (flags_ & kUnigramStripAccents) == 0 || nfkd::properties(code_point).is_mark == 0;
}

// Selects the lowest class above `above` that has a surviving mark. run_.rank becomes the number of
// the text's marks that sort before it.
void DecomposedStream::select_class(uint32_t above) {
  uint32_t selected = kNoClass;
  PartReader ahead = run_.start;
  Part part;
  for (;;) {
    reader_ = ahead;
    if (!ahead.read(&part) || part.combining_class == 0) break;
    if (part.combining_class > above && part.combining_class < selected &&
        survives(part.c.code_point)) {
      selected = part.combining_class;
    }
  }
  run_.active = selected != kNoClass;
  if (!run_.active) return;
  run_.combining_class = static_cast<uint8_t>(selected);
  run_.rank = 0;
  ahead = run_.start;
  while (ahead.read(&part) && part.combining_class != 0) {
    if (part.combining_class < selected && !part.inserted) ++run_.rank;
  }
  run_.reader = run_.start;
}

void DecomposedStream::begin_run(const PartReader& start) {
  run_.start = start;
  run_.originals = start.source;
  run_.offsets = start.offsets;
  run_.originals_read = 0;
  select_class(0);
}

// The k-th mark of the sorted run gets the offsets of the k-th mark of the text. An inserted mark
// belongs to no code point of the text: it gets the offsets of the mark sorted before it.
bool DecomposedStream::next_in_run(NormalizedChar* out) {
  while (run_.active) {
    Part part;
    while (run_.reader.read(&part) && part.combining_class != 0) {
      if (part.combining_class != run_.combining_class) continue;
      if (!part.inserted) ++run_.rank;
      if (!survives(part.c.code_point)) continue;
      while (run_.originals_read < run_.rank) {
        NormalizedChar original;
        if (!run_.originals.next(&original)) break;
        run_.offsets = original.offsets;
        ++run_.originals_read;
      }
      *out = {part.c.code_point, run_.offsets};
      return true;
    }
    select_class(run_.combining_class);
  }
  return false;
}

bool DecomposedStream::next_ordered(NormalizedChar* out) {
  if ((flags_ & kUnigramNfkd) == 0) return reader_.source.next(out);
  for (;;) {
    if (run_.active && next_in_run(out)) return true;
    const PartReader before = reader_;
    Part part;
    if (!reader_.read(&part)) return false;
    if (part.combining_class != 0) {
      begin_run(before);
      continue;
    }
    *out = part.c;
    return true;
  }
}

bool DecomposedStream::next(NormalizedChar* out) {
  if (dot_pending_) {
    dot_pending_ = false;
    *out = {kCombiningDotAbove, dot_offsets_};
    return true;
  }
  constexpr uint32_t kAny = kUnigramNfkd | kUnigramStripAccents | kUnigramLowercase;
  if ((flags_ & kAny) == 0) return reader_.source.next(out);
  do {
    if (!next_ordered(out)) return false;
  } while (!survives(out->code_point));
  if ((flags_ & kUnigramLowercase) != 0) {
    if (out->code_point == kCapitalIWithDot) {
      out->code_point = 'i';
      dot_pending_ = true;
      dot_offsets_ = out->offsets;
    } else {
      const int32_t delta = nfkd::properties(out->code_point).lowercase_delta;
      out->code_point = static_cast<uint32_t>(static_cast<int32_t>(out->code_point) + delta);
    }
  }
  return true;
}

}  // namespace embert
