// SPDX-License-Identifier: Apache-2.0
// Precompiled, Strip and Replace of runs of spaces.
#include "runtime/tokenizer/unigram/unigram_stream.hpp"

namespace embert {

// Fills the queue up to `count` code points; false if the text ends before.
bool MappedStream::pull(uint32_t count) {
  while (queued_ < count) {
    if (!below_.next(&queue_[queued_])) return false;
    ++queued_;
  }
  return true;
}

// Finds the grapheme at the begin of the queue. The queue then holds all of a short one.
void MappedStream::begin_grapheme() {
  uint8_t utf8[4];
  uint32_t bytes = encode_utf8(queue_[0].code_point, utf8);
  uint32_t count = 1;
  break_.begin(queue_[0].code_point);
  while (bytes < kShortGrapheme && pull(count + 1) &&
         !break_.breaks_before(queue_[count].code_point)) {
    bytes += encode_utf8(queue_[count].code_point, utf8);
    ++count;
  }
  in_long_grapheme_ = bytes >= kShortGrapheme;
  grapheme_left_ = static_cast<uint8_t>(count);
  if (in_long_grapheme_) return;
  look_up(count);
  if (replaced_) grapheme_left_ = 0;
}

// Makes a unit of the first code points of the queue.
void MappedStream::look_up(uint32_t characters) {
  uint8_t utf8[4 * kShortGrapheme];
  uint32_t bytes = 0;
  for (uint32_t i = 0; i < characters; ++i)
    bytes += encode_utf8(queue_[i].code_point, utf8 + bytes);
  const Replacement found = map_.find(utf8, bytes);
  replaced_ = found.begin != nullptr;
  new_ = found.begin;
  new_end_ = found.end;
  given_ = 0;
  unit_ = static_cast<uint8_t>(characters);
}

// Finds the next unit: a grapheme or a code point that has one replacement or none. False at the
// end.
bool MappedStream::begin_unit() {
  if (unit_ready_) return true;
  if (!pull(1)) return false;
  replaced_ = false;
  if (grapheme_left_ == 0 && in_long_grapheme_) {
    in_long_grapheme_ = !break_.breaks_before(queue_[0].code_point);
    grapheme_left_ = in_long_grapheme_ ? 1 : 0;
  }
  if (grapheme_left_ == 0) begin_grapheme();
  if (!replaced_) {
    look_up(1);
    --grapheme_left_;
  }
  unit_ready_ = true;
  return true;
}

void MappedStream::pop_unit() {
  queued_ = static_cast<uint8_t>(queued_ - unit_);
  for (uint32_t i = 0; i < queued_; ++i) queue_[i] = queue_[i + unit_];
  unit_ready_ = false;
}

void MappedStream::skip_originals(uint32_t count) {
  NormalizedChar c;
  while (lagging_ && count-- > 0) originals_.next(&c);
}

// An output with the place of code point `index` of the unit.
NormalizedChar MappedStream::place(uint32_t code_point, uint32_t index) {
  NormalizedChar original = queue_[index];
  if (lagging_) originals_.next(&original);
  last_ = original.offsets;
  started_ = true;
  return {code_point, last_};
}

bool MappedStream::next(NormalizedChar* out) {
  if (!has_map_) return below_.next(out);
  for (;;) {
    if (!begin_unit()) return false;
    if (!replaced_) {
      *out = place(queue_[0].code_point, 0);
      pop_unit();
      return true;
    }
    if (new_ != new_end_) break;
    // The unit is deleted. Before any output, it is as if it had not been there.
    if (started_) {
      skip_originals(unit_);
    } else {
      lagging_ = true;
    }
    pop_unit();
  }
  const Utf8Char c = decode_utf8(new_, new_end_);
  new_ += c.bytes;
  const uint32_t index = given_++;
  const bool is_last = new_ == new_end_;
  if (index < unit_) {
    *out = place(c.code_point, index);
    if (is_last) {
      skip_originals(unit_ - given_);
      pop_unit();
    }
    return true;
  }
  *out = {c.code_point, last_};
  if (is_last) {
    pop_unit();
    // A deletion behind an added code point gives it a place of its own.
    if (begin_unit() && replaced_ && new_ == new_end_) {
      *out = place(c.code_point, 0);
      skip_originals(unit_ - 1u);
      pop_unit();
    }
  }
  return true;
}

bool UnigramStream::next_stripped(NormalizedChar* out) {
  const uint32_t flags = header_->flags;
  for (;;) {
    if (!mapped_.next(out)) return false;
    if (!is_white_space(out->code_point)) break;
    if (!begun_ && (flags & kUnigramStripLeft) != 0) continue;
    if (inner_blanks_ != 0) {
      --inner_blanks_;
    } else if ((flags & kUnigramStripRight) != 0) {
      // White space is kept if something follows it. The look ahead happens once for each run.
      MappedStream ahead = mapped_;
      NormalizedChar c;
      for (;; ++inner_blanks_) {
        if (!ahead.next(&c)) {
          inner_blanks_ = 0;
          return false;
        }
        if (!is_white_space(c.code_point)) break;
      }
    }
    break;
  }
  begun_ = true;
  return true;
}

bool UnigramStream::next_slowly(NormalizedChar* out) {
  if (!next_stripped(out)) return false;
  if ((header_->flags & kUnigramReplaceSpaces) == 0 || out->code_point != ' ') return true;
  uint8_t byte = 0;
  bool is_run = false;
  while (!peek_plain(&byte)) {
    UnigramStream ahead = *this;
    NormalizedChar c;
    if (!ahead.next_stripped(&c) || c.code_point != ' ') break;
    *this = ahead;
    out->offsets = c.offsets;
    is_run = true;
  }
  if (is_run) out->code_point = header_->spaces_content;
  return true;
}

}  // namespace embert
