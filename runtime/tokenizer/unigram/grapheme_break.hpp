// SPDX-License-Identifier: Apache-2.0
// Boundaries of extended graphemes, UAX #29 section 3.1.1: rules GB3 to GB11. Regional indicators
// (GB12, GB13) count as other characters: a pair of them is too long for the look-up of a whole
// grapheme, so joining them changes nothing.
#ifndef EMBERT_RUNTIME_TOKENIZER_UNIGRAM_GRAPHEME_BREAK_HPP_
#define EMBERT_RUNTIME_TOKENIZER_UNIGRAM_GRAPHEME_BREAK_HPP_

#include <stdint.h>

#include "runtime/tokenizer/unigram/grapheme_tables.hpp"

namespace embert {

class GraphemeBreak {
 public:
  /// Begins a grapheme.
  void begin(uint32_t code_point) {
    last_ = grapheme::category(code_point);
    is_return_ = code_point == '\r';
    emoji_ = last_ == grapheme::kPictographic ? kPicture : kNone;
  }

  /// Whether a grapheme ends before this code point; if not, it becomes part of the grapheme.
  bool breaks_before(uint32_t code_point) {
    // Two ASCII characters break but for CR LF.
    const grapheme::Category next = grapheme::category(code_point);
    if (!joins(next, code_point)) return true;
    if (next == grapheme::kPictographic) {
      emoji_ = kPicture;
    } else if (next == grapheme::kJoiner) {
      emoji_ = emoji_ == kPicture ? kPictureJoiner : kNone;
    } else if (next != grapheme::kExtend || emoji_ != kPicture) {
      emoji_ = kNone;
    }
    last_ = next;
    is_return_ = false;
    return false;
  }

 private:
  enum Emoji : uint8_t { kNone, kPicture, kPictureJoiner };

  bool joins(grapheme::Category next, uint32_t code_point) const {
    using namespace grapheme;
    if (is_return_ && code_point == '\n') return true;        // GB3
    if (last_ == kControl || next == kControl) return false;  // GB4, GB5
    switch (next) {
      case kExtend:
      case kJoiner:
      case kSpacingMark:
        return true;  // GB9, GB9a
      case kHangulL:
      case kHangulLv:
      case kHangulLvt:
        return last_ == kPrepend || last_ == kHangulL;  // GB6
      case kHangulV:
        return last_ == kPrepend || last_ == kHangulL || last_ == kHangulV || last_ == kHangulLv;
      case kHangulT:
        return last_ == kPrepend || last_ == kHangulV || last_ == kHangulT || last_ == kHangulLv ||
               last_ == kHangulLvt;  // GB7, GB8
      case kPictographic:
        return last_ == kPrepend || emoji_ == kPictureJoiner;  // GB11
      default:
        return last_ == kPrepend;  // GB9b
    }
  }

  grapheme::Category last_ = grapheme::kOther;
  bool is_return_ = false;
  Emoji emoji_ = kNone;
};

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_UNIGRAM_GRAPHEME_BREAK_HPP_
