// SPDX-License-Identifier: Apache-2.0
// The template around one or two texts, truncation, and windows of texts that do not fit.
#include "runtime/tokenizer/sequence_encoder.hpp"
#include "runtime/tokenizer/tokenizer.hpp"

namespace embert {
namespace {

constexpr uint64_t kUnlimited = UINT32_MAX;

struct Text {
  const uint8_t* bytes;
  uint32_t length;
};

Text text_of(const char* text, size_t bytes) {
  return {reinterpret_cast<const uint8_t*>(text), static_cast<uint32_t>(bytes)};
}

// Tokens first <= number < last of a text.
struct TokenRange {
  uint64_t first;
  uint64_t last;
};

// How one text is cut: windows of `room` tokens. Each repeats `stride` tokens of the one before, so
// it begins `step` tokens later.
struct Cut {
  uint64_t windows;
  uint64_t room;
  uint64_t step;

  TokenRange range(uint64_t window) const {
    // A room of 0 gives an empty window and then one with the whole text, as in Hugging Face.
    if (room == 0) return window == 0 ? TokenRange{0, 0} : TokenRange{0, kUnlimited};
    return {window * step, window * step + room};
  }
};

uint32_t special_tokens(const TokenizerTemplate& pieces) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < pieces.count; ++i) {
    if (pieces.pieces[i].token_id != kSequenceA && pieces.pieces[i].token_id != kSequenceB) ++count;
  }
  return count;
}

TokenizerStatus make_cut(uint64_t tokens, uint64_t room, uint64_t stride, Cut* cut) {
  *cut = {1, room, 0};
  if (room >= tokens) {
    cut->room = kUnlimited;
  } else if (room == 0) {
    cut->windows = 2;
  } else if (stride >= room) {
    return TokenizerStatus::kStrideTooLarge;
  } else {
    cut->step = room - stride;
    cut->windows = 1 + (tokens - room + cut->step - 1) / cut->step;
  }
  return TokenizerStatus::kOk;
}

class Tokenization {
 public:
  Tokenization(const TokenizerView& view, const embert_text& text,
               const embert_tokenize_options& options, embert_tokens* tokens)
      : header_(*view.header),
        view_(view),
        texts_{text_of(text.text, text.text_bytes), text_of(text.pair, text.pair_bytes)},
        is_pair_(text.pair != nullptr),
        options_(options),
        tokens_(*tokens) {}

  TokenizerStatus run() {
    const uint32_t max_tokens = static_cast<uint32_t>(options_.max_tokens);
    const uint32_t stride = static_cast<uint32_t>(options_.stride);
    const bool limited = max_tokens != 0 && options_.truncation != EMBERT_TRUNCATION_NONE;
    uint64_t room = kUnlimited;
    if (limited) {
      // As in Hugging Face, the stride is checked against a single text with special tokens, also
      // in calls with a pair or without special tokens.
      const uint32_t for_single = special_tokens(header_.single);
      if (max_tokens >= for_single && max_tokens - for_single < stride)
        return TokenizerStatus::kStrideTooLarge;
      const uint32_t added = options_.add_special_tokens
                                 ? special_tokens(is_pair_ ? header_.pair : header_.single)
                                 : 0;
      if (max_tokens >= added) room = max_tokens - added;
    }
    return is_pair_ ? run_pair(room, stride) : run_single(room, stride);
  }

 private:
  TokenizerStatus run_single(uint64_t room, uint64_t stride) {
    // The begin of a window does not depend on the text's length, so one pass both writes the
    // window and counts the tokens.
    TokenRange range = {0, room};
    if (options_.window != 0) {
      Cut cut;
      const uint64_t endless = UINT64_MAX / 2;
      const bool possible =
          room != kUnlimited && make_cut(endless, room, stride, &cut) == TokenizerStatus::kOk;
      range = possible ? cut.range(options_.window) : TokenRange{0, 0};
    }
    emit(range, {0, 0});
    if (options_.truncation == EMBERT_TRUNCATION_ONLY_SECOND && room != 0 && counts_[0] > room) {
      return TokenizerStatus::kNoSecondSequence;
    }
    Cut cut;
    const TokenizerStatus status = make_cut(counts_[0], room, stride, &cut);
    return status == TokenizerStatus::kOk ? finish(cut.windows) : status;
  }

  TokenizerStatus run_pair(uint64_t room, uint64_t stride) {
    emit({0, kUnlimited}, {0, kUnlimited});
    const uint64_t total = uint64_t{counts_[0]} + counts_[1];
    if (total <= room) return finish(1);
    uint64_t rooms[2] = {counts_[0], counts_[1]};
    if (options_.truncation == EMBERT_TRUNCATION_LONGEST_FIRST || room == 0) {
      share(room, rooms);
    } else {
      const int cut_one = options_.truncation == EMBERT_TRUNCATION_ONLY_FIRST ? 0 : 1;
      if (rooms[cut_one] <= total - room) return TokenizerStatus::kSequenceTooShort;
      rooms[cut_one] -= total - room;
    }
    Cut cuts[2];
    for (int i = 0; i < 2; ++i) {
      const TokenizerStatus status = make_cut(counts_[i], rooms[i], stride, &cuts[i]);
      if (status != TokenizerStatus::kOk) return status;
    }
    // The order of the windows: first with first; then each further window of the first text with
    // all windows of the second; then the first window of the first text with the further ones of
    // the second.
    const uint64_t windows = cuts[0].windows * cuts[1].windows;
    if (options_.window >= windows) return finish(windows);
    const uint64_t further = (cuts[0].windows - 1) * cuts[1].windows;
    uint64_t first = 0;
    uint64_t second = 0;
    if (options_.window > further) {
      second = options_.window - further;
    } else if (options_.window > 0) {
      first = 1 + (options_.window - 1) / cuts[1].windows;
      second = (options_.window - 1) % cuts[1].windows;
    }
    emit(cuts[0].range(first), cuts[1].range(second));
    return finish(windows);
  }

  // Longest first: the shorter text keeps up to half of the room.
  static void share(uint64_t room, uint64_t rooms[2]) {
    const int shorter = rooms[0] <= rooms[1] ? 0 : 1;
    uint64_t small = rooms[shorter];
    uint64_t large = small > room ? small : (room - small > small ? room - small : small);
    if (small + large > room) {
      small = room / 2;
      large = small + room % 2;
    }
    rooms[shorter] = small;
    rooms[1 - shorter] = large;
  }

  void emit(TokenRange first, TokenRange second) {
    const TokenizerTemplate& pieces = is_pair_ ? header_.pair : header_.single;
    size_t at = 0;
    for (uint32_t i = 0; i < pieces.count; ++i) {
      const uint32_t id = pieces.pieces[i].token_id;
      const int32_t type_id = static_cast<int32_t>(pieces.pieces[i].type_id);
      if (id == kSequenceA) {
        at += emit_text(0, first, type_id, at);
      } else if (id == kSequenceB) {
        at += emit_text(1, second, type_id, at);
      } else if (options_.add_special_tokens != 0) {
        emit_special(id, type_id, at++);
      }
    }
    tokens_.length = at;
  }

  size_t emit_text(int which, TokenRange range, int32_t type_id, size_t at) {
    const uint32_t first =
        static_cast<uint32_t>(range.first < kUnlimited ? range.first : kUnlimited);
    const uint32_t last = static_cast<uint32_t>(range.last < kUnlimited ? range.last : kUnlimited);
    TokenSink sink = {.arrays = &tokens_,
                      .at = at,
                      .first = first,
                      .last = last,
                      .type_id = type_id,
                      .sequence_id = which};
    encode_sequence(view_, texts_[which].bytes, texts_[which].length, &sink);
    counts_[which] = sink.count;
    const uint32_t end = sink.count < last ? sink.count : last;
    return end > first ? end - first : 0;
  }

  void emit_special(uint32_t id, int32_t type_id, size_t at) {
    TokenSink sink = {
        .arrays = &tokens_, .at = at, .first = 0, .last = 1, .type_id = type_id, .sequence_id = -1};
    sink.emit(id, {0, 0, 0, 0}, UINT32_MAX);
  }

  TokenizerStatus finish(uint64_t windows) {
    tokens_.windows = windows < UINT32_MAX ? static_cast<uint32_t>(windows) : UINT32_MAX;
    if (options_.window >= windows) {
      tokens_.length = 0;
      return TokenizerStatus::kWindowOutOfRange;
    }
    return tokens_.length <= tokens_.capacity ? TokenizerStatus::kOk
                                              : TokenizerStatus::kCapacityTooSmall;
  }

  const TokenizerHeader& header_;
  const TokenizerView& view_;
  Text texts_[2];
  bool is_pair_;
  const embert_tokenize_options& options_;
  embert_tokens& tokens_;
  uint32_t counts_[2] = {0, 0};
};

}  // namespace

TokenizerStatus tokenize(const TokenizerView& view, const embert_text& text,
                         const embert_tokenize_options& options, embert_tokens* tokens) {
  if (tokens == nullptr || view.header == nullptr) return TokenizerStatus::kNullArgument;
  tokens->length = 0;
  tokens->windows = 0;
  if ((text.text == nullptr && text.text_bytes != 0) ||
      (text.pair == nullptr && text.pair_bytes != 0)) {
    return TokenizerStatus::kNullArgument;
  }
  if (options.max_tokens < 0 || options.stride < 0 ||
      options.truncation > EMBERT_TRUNCATION_ONLY_SECOND) {
    return TokenizerStatus::kBadOption;
  }
  if (text.text_bytes > kMaxTextBytes || text.pair_bytes > kMaxTextBytes) {
    return TokenizerStatus::kTextTooLong;
  }
  const TokenizerStatus status = Tokenization(view, text, options, tokens).run();
  if (status != TokenizerStatus::kOk && status != TokenizerStatus::kCapacityTooSmall) {
    tokens->length = 0;
  }
  return status;
}

}  // namespace embert
