// SPDX-License-Identifier: Apache-2.0
// Words to pieces: the path of the best sum of scores through all pieces of a word (Viterbi; Kudo
// 2018, "Subword Regularization", section 3.2). Of equal sums the one whose last piece starts first
// wins.
//
// Time is linear and memory constant, whatever the text. A word that fits the window is solved
// there. Of a longer one, what all paths that are still alive agree on is decided. Where they do
// not agree within the window ("aaaa..." and a piece "aa"), a pass over the word finds some places
// that the best path goes through: each path carries the first place at or behind each of a few
// checkpoints (as Hirschberg 1975 finds the middle of an alignment). Between two such places the
// word is solved in the same way, with 8 times fewer characters at each level.
#include <string.h>

#include "runtime/tokenizer/sequence_encoder.hpp"
#include "runtime/tokenizer/unigram/unigram_section.hpp"
#include "runtime/tokenizer/unigram/word_stream.hpp"
#include "runtime/tokenizer/vocabulary.hpp"

namespace embert {
namespace {

constexpr uint32_t kWindow = 128;  // characters
constexpr uint32_t kRing = 64;     // places that a piece from one place can reach
static_assert(kMaxPieceChars < kRing && 2 * kRing <= kWindow, "all pieces from a place fit");
constexpr uint32_t kCheckpoints = 8;
// A level of checkpoints cuts n characters into parts of at most n / 8 + 63. A text has less than
// 2^30 characters, each of which becomes at most 255, so after 11 levels a part fits the window.
constexpr uint32_t kMaxTargets = 11 * kCheckpoints + 1;

// How the best path comes to a place: the piece, and its length in characters. No length: no path.
struct Step {
  uint32_t id : 20;
  uint32_t length : 6;
};
static_assert(kMaxTokenizerTokens <= 1u << 20, "an id has 20 bits");

bool is_continuation(uint8_t byte) { return (byte & 0xC0) == 0x80; }

// Characters of a word in UTF-8, from the place where the window begins.
struct Window {
  uint8_t bytes[4 * kWindow];
  uint32_t length;  // bytes
  uint32_t characters;
  bool ended;  // the word ends with the window
  // Offsets are those of adjacent ASCII characters, but for the first: it may be a word mark.
  bool adjacent;
  SourceOffsets first;
  SourceOffsets second;

  // Reads until the window has `count` characters or the word ends.
  void load(WordStream* from, uint32_t count) {
    NormalizedChar c;
    while (characters < count) {
      if (!from->next(&c)) {
        ended = true;
        return;
      }
      if (characters == 0) first = c.offsets;
      if (characters == 1) second = c.offsets;
      if (characters >= 1) {
        const uint32_t distance = characters - 1;
        adjacent = adjacent && c.offsets.byte_start == second.byte_start + distance &&
                   c.offsets.byte_end == c.offsets.byte_start + 1 &&
                   c.offsets.char_index == second.char_index + distance;
      }
      length += encode_utf8(c.code_point, bytes + length);
      ++characters;
    }
  }

  void clear() {
    length = characters = 0;
    ended = false;
    adjacent = true;
  }

  SourceOffsets adjacent_offsets(uint32_t index) const {
    if (index == 0) return first;
    const uint32_t distance = index - 1;
    return {second.byte_start + distance, second.byte_end + distance, second.char_index + distance};
  }

  uint32_t next_character(uint32_t byte) const {
    do ++byte;
    while (byte < length && is_continuation(bytes[byte]));
    return byte;
  }

  // Removes characters at the begin.
  void drop(uint32_t count) {
    uint32_t byte = 0;
    for (uint32_t i = 0; i < count; ++i) byte = next_character(byte);
    memmove(bytes, bytes + byte, length - byte);
    length -= byte;
    characters -= count;
  }
};

class UnigramEncoder {
 public:
  explicit UnigramEncoder(SequenceState& state, uint32_t end)
      : state_(state),
        view_(state.view),
        section_(unigram_section(state.view)),
        unknown_score_(section_.unknown_score()),
        reach_(section_.header->max_piece_chars),
        words_(state.view, section_, state.text, state.cursor, end),
        unknown_words_(words_) {}

  void run(uint32_t end) {
    for (WordStream::Next next = words_.begin(); next != WordStream::Next::kEnd;
         next = words_.begin()) {
      if (next == WordStream::Next::kAddedToken) {
        const WordStream::AddedToken token = words_.take_added_token();
        emit(view_.added_tokens[token.index].id, token.first, token.last);
      } else {
        encode_word();
      }
      ++state_.word;
    }
    state_.cursor = words_.cursor();
    while (state_.cursor.byte < end) {
      state_.cursor.byte += decode_utf8(state_.text + state_.cursor.byte, state_.text + end).bytes;
      ++state_.cursor.character;
    }
  }

 private:
  // Solves the word from where words_ stands. Known places of the best path lie ahead in targets_,
  // the nearest last.
  void encode_word() {
    position_ = 0;
    targets_ = 0;
    unknown_characters_ = 0;
    for (;;) {
      if (targets_ != 0 && target_[targets_ - 1] - position_ > kWindow) {
        find_targets(target_[targets_ - 1] - position_);
        continue;
      }
      WordStream ahead = words_;
      window_.clear();
      if (targets_ != 0) {
        window_.load(&ahead, static_cast<uint32_t>(target_[--targets_] - position_));
        solve(&ahead);
        continue;
      }
      window_.load(&ahead, kWindow);
      if (window_.ended) {
        solve(&ahead);
        break;
      }
      const uint32_t starts = kWindow - reach_;
      find_paths(starts);
      const uint32_t decided = find_agreement(starts);
      if (decided >= kWindow / 4) {
        take_path(decided, nullptr);
      } else {
        find_targets(kToTheEnd);
      }
    }
    flush_unknown();
  }

  // Solves the window, at whose end the best path has a place. `behind` stands at its end.
  void solve(const WordStream* behind) {
    find_paths(window_.characters);
    take_path(window_.characters, behind);
  }

  // Best paths from the window's begin over all pieces that start at its first `starts` places.
  void find_paths(uint32_t starts) {
    memset(steps_.of_window, 0, sizeof(steps_.of_window));
    scores_[0] = 0;
    uint32_t byte = 0;
    for (uint32_t place = 0; place < starts; ++place) {
      extend(place, byte, steps_.of_window + place);
      byte = window_.next_character(byte);
    }
  }

  // Offers a piece from `place` to the place behind it.
  void offer(uint64_t place, uint32_t length, uint32_t id, int64_t score, Step* step) {
    int64_t& best = scores_[(place + length) % kRing];
    const int64_t sum = scores_[place % kRing] + score;
    if (step->length != 0 && sum <= best) return;
    best = sum;
    step->id = id & 0xFFFFF;
    step->length = length & 63;
  }

  // Offers all pieces from a place; steps[length], or step_of(length) in a pass, is the step to the
  // place behind.
  void extend(uint64_t place, uint32_t byte, Step* steps) {
    extend_with(place, byte, [steps](uint32_t length) { return steps + length; });
  }

  template <typename StepOf>
  void extend_with(uint64_t place, uint32_t begin, StepOf step_of) {
    const uint32_t* const units = view_.word_units;
    uint32_t base = view_.header->word_root;
    uint32_t characters = 0;
    bool single = false;
    for (uint32_t i = begin; i < window_.length && characters < reach_;) {
      const uint32_t unit = child_unit(units, base, window_.bytes[i]);
      if (unit == 0) break;
      ++i;
      base = unit >> kUnitPayloadShift;
      if ((unit & kUnitIsLeaf) != 0) {
        const uint32_t length = match_tail(begin, i, base);
        if (length == 0 || length > reach_) break;
        offer(place, length, base, section_.scores[base], step_of(length));
        single = single || length == 1;
        break;
      }
      if (i < window_.length && is_continuation(window_.bytes[i])) continue;
      ++characters;
      if ((unit & kUnitHasValue) == 0) continue;
      const uint32_t id = units[base] >> kUnitPayloadShift;
      offer(place, characters, id, section_.scores[id], step_of(characters));
      single = single || characters == 1;
    }
    if (!single) offer(place, 1, view_.header->unk_id, unknown_score_, step_of(1));
  }

  // A leaf stands for the rest of its token's string. Returns the piece's length in characters if
  // the window has it from byte `begin` on; the bytes before `at` are matched.
  uint32_t match_tail(uint32_t begin, uint32_t at, uint32_t id) const {
    const uint32_t start = string_begin(view_, id);
    const uint32_t bytes = string_begin(view_, id + 1) - start;
    if (bytes < at - begin || bytes > window_.length - begin) return 0;
    const uint32_t end = begin + bytes;
    for (; at < end; ++at) {
      if (view_.strings[start + at - begin] != window_.bytes[at]) return 0;
    }
    if (end < window_.length && is_continuation(window_.bytes[end])) return 0;
    uint32_t length = 0;
    for (uint32_t i = begin; i < end; ++i) length += is_continuation(window_.bytes[i]) ? 0u : 1u;
    return length;
  }

  // The last place that all paths alive have gone through, when pieces were extended from the first
  // `starts` places.
  uint32_t find_agreement(uint32_t starts) const {
    bool on_path[kWindow] = {};
    uint32_t paths = 0;
    for (uint32_t place = starts; place < kWindow; ++place) {
      on_path[place] = steps_.of_window[place].length != 0;
      paths += on_path[place] ? 1u : 0u;
    }
    uint32_t place = kWindow - 1;
    for (; paths > 1 || !on_path[place]; --place) {
      if (!on_path[place]) continue;
      const uint32_t before = place - steps_.of_window[place].length;
      if (on_path[before]) --paths;
      on_path[before] = true;
    }
    return place;
  }

  // Emits the pieces of the best path to a place of the window, and moves words_ there. `behind`
  // stands at the window's end or is null.
  void take_path(uint32_t end, const WordStream* behind) {
    Step* const steps = steps_.of_window;
    // Turns the steps around: each then leads to the place behind.
    Step step = steps[end];
    for (uint32_t place = end; place > 0;) {
      const uint32_t before = place - step.length;
      const Step earlier = steps[before];
      steps[before] = step;
      step = earlier;
      place = before;
    }
    const bool byte_fallback = section_.has(kUnigramByteFallback);
    const bool jump =
        behind != nullptr && !byte_fallback && (window_.adjacent || !state_.sink.wants_offsets());
    for (uint32_t place = 0; place < end;) {
      const uint32_t length = steps[place].length;
      SourceOffsets first = window_.adjacent_offsets(place);
      SourceOffsets last = window_.adjacent_offsets(place + length - 1);
      const bool unknown = steps[place].id == view_.header->unk_id;
      if (unknown && unknown_characters_ == 0 && byte_fallback) unknown_words_ = words_;
      if (!jump) read_offsets(length, &first, &last);
      take_piece(steps[place].id, length, first, last);
      place += length;
    }
    if (jump) words_ = *behind;
    position_ += end;
  }

  void read_offsets(uint32_t characters, SourceOffsets* first, SourceOffsets* last) {
    NormalizedChar c;
    for (uint32_t i = 0; i < characters; ++i) {
      if (!words_.next(&c)) return;
      if (i == 0) *first = c.offsets;
      *last = c.offsets;
    }
  }

  // Neighbouring unknown pieces become one.
  void take_piece(uint32_t id, uint32_t characters, const SourceOffsets& first,
                  const SourceOffsets& last) {
    if (id != view_.header->unk_id) {
      flush_unknown();
      emit(id, first, last);
      return;
    }
    if (unknown_characters_ == 0) unknown_first_ = first;
    unknown_last_ = last;
    unknown_characters_ += characters;
  }

  void flush_unknown() {
    if (unknown_characters_ == 0) return;
    if (!section_.has(kUnigramByteFallback) || !emit_bytes()) {
      emit(view_.header->unk_id, unknown_first_, unknown_last_);
    }
    unknown_characters_ = 0;
  }

  // The pieces of the bytes of the unknown characters, if all bytes have one. The string of the
  // unknown token itself is no unknown text.
  bool emit_bytes() {
    const uint32_t start = string_begin(view_, view_.header->unk_id);
    const uint32_t token_bytes = string_begin(view_, view_.header->unk_id + 1) - start;
    bool complete = true;
    bool is_token = true;
    uint64_t bytes = 0;
    for_each_unknown_byte([&](uint8_t byte) {
      complete = complete && section_.byte_ids[byte] != kNoToken;
      is_token = is_token && bytes < token_bytes && view_.strings[start + bytes] == byte;
      ++bytes;
    });
    if (!complete || (is_token && bytes == token_bytes)) return false;
    for_each_unknown_byte(
        [&](uint8_t byte) { emit(section_.byte_ids[byte], unknown_first_, unknown_last_); });
    return true;
  }

  template <typename Take>
  void for_each_unknown_byte(Take take) {
    WordStream words = unknown_words_;
    NormalizedChar c;
    for (uint64_t i = 0; i < unknown_characters_ && words.next(&c); ++i) {
      uint8_t utf8[4];
      const uint32_t bytes = encode_utf8(c.code_point, utf8);
      for (uint32_t k = 0; k < bytes; ++k) take(utf8[k]);
    }
  }

  void emit(uint32_t id, const SourceOffsets& first, const SourceOffsets& last) {
    state_.sink.emit(id, {first.byte_start, last.byte_end, first.char_index, last.char_index + 1},
                     state_.word);
  }

  // One pass from words_ over `length` characters, at whose end the best path has a place; with
  // kToTheEnd to the end of the word, or until all paths agree on half of what was read. Puts
  // places of the best path on the stack of targets.
  void find_targets(uint64_t length) {
    uint64_t distance = length == kToTheEnd ? kRing : (length + kCheckpoints - 1) / kCheckpoints;
    WordStream ahead = words_;
    window_.clear();
    memset(&steps_.of_pass, 0, sizeof(steps_.of_pass));
    scores_[0] = 0;
    uint64_t window_begin = 0;
    uint32_t byte = 0;
    for (uint64_t place = 0;; ++place) {
      uint64_t left = window_begin + window_.characters - place;
      if (left <= reach_ && !window_.ended && window_begin + window_.characters < length) {
        window_.drop(static_cast<uint32_t>(place - window_begin));
        window_begin = place;
        byte = 0;
        const uint64_t room = length - place;
        window_.load(&ahead, room < kWindow ? static_cast<uint32_t>(room) : kWindow);
        left = window_.characters;
        lower_scores(place);
      }
      if (place != 0) set_crossings(place, distance);
      if (left == 0) {
        if (length == kToTheEnd) target_[targets_++] = position_ + place;
        push_targets(place, place / distance, distance);
        return;
      }
      if (length == kToTheEnd && place % distance == 0 && place != 0) {
        const uint64_t agreed = agreed_checkpoints(place, distance);
        if (2 * agreed >= place / distance) {
          push_targets(place, agreed, distance);
          return;
        }
        if (place / distance == kCheckpoints) {
          keep_every_second_checkpoint();
          distance *= 2;
        }
      }
      extend_in_pass(place, byte);
      byte = window_.next_character(byte);
    }
  }

  void extend_in_pass(uint64_t place, uint32_t byte) {
    Step* const steps = steps_.of_pass.steps;
    extend_with(place, byte,
                [steps, place](uint32_t length) { return steps + (place + length) % kRing; });
  }

  // Sums of scores stay small: only their differences matter.
  void lower_scores(uint64_t place) {
    const int64_t base = scores_[place % kRing];
    for (int64_t& score : scores_) score -= base;
  }

  // The crossings of the best path to `place`: those of the path to the place before it, and this
  // place for the checkpoints that lie between. Checkpoint k is at (k + 1) * distance.
  void set_crossings(uint64_t place, uint64_t distance) {
    Pass& pass = steps_.of_pass;
    Step& step = pass.steps[place % kRing];
    const uint64_t before = place - step.length;
    uint8_t* const crossings = pass.crossings[place % kRing];
    memcpy(crossings, pass.crossings[before % kRing], kCheckpoints);
    for (uint64_t k = before / distance; k < place / distance && k < kCheckpoints; ++k) {
      crossings[k] = static_cast<uint8_t>(place - (k + 1) * distance);
    }
    step.length = 0;  // the slot is free for a later place
  }

  // How many of the checkpoints before `place` all paths alive cross at one place. There are paths
  // to `place` and to those behind it that a piece has reached.
  uint64_t agreed_checkpoints(uint64_t place, uint64_t distance) const {
    const Pass& pass = steps_.of_pass;
    const uint8_t* const crossings = pass.crossings[place % kRing];
    uint64_t agreed = place / distance - 1;
    for (uint64_t end = place + 1; end < place + kRing; ++end) {
      const uint32_t length = pass.steps[end % kRing].length;
      if (length == 0) continue;
      const uint8_t* const others = pass.crossings[(end - length) % kRing];
      while (agreed > 0 && others[agreed - 1] != crossings[agreed - 1]) --agreed;
    }
    return agreed;
  }

  void keep_every_second_checkpoint() {
    for (auto& crossings : steps_.of_pass.crossings) {
      for (uint32_t k = 0; 2 * k + 1 < kCheckpoints; ++k) crossings[k] = crossings[2 * k + 1];
    }
  }

  // The places where the path to `place` crosses the first checkpoints; the nearest one last.
  void push_targets(uint64_t place, uint64_t checkpoints, uint64_t distance) {
    const uint8_t* const crossings = steps_.of_pass.crossings[place % kRing];
    for (uint64_t k = checkpoints < kCheckpoints ? checkpoints : kCheckpoints; k > 0; --k) {
      target_[targets_++] = position_ + k * distance + crossings[k - 1];
    }
  }

  // Where a pass keeps the paths to the last places and to those ahead.
  struct Pass {
    Step steps[kRing];
    uint8_t crossings[kRing][kCheckpoints];  // distance from the checkpoint to the place
  };
  static constexpr uint64_t kToTheEnd = UINT64_MAX;

  SequenceState& state_;
  const TokenizerView& view_;
  const UnigramSection section_;
  const int64_t unknown_score_;
  const uint32_t reach_;
  WordStream words_;          // behind the pieces emitted
  WordStream unknown_words_;  // with byte fallback: where the unknown characters begin
  uint64_t unknown_characters_ = 0;
  SourceOffsets unknown_first_ = {};
  SourceOffsets unknown_last_ = {};
  uint64_t position_ = 0;         // of words_, in characters of the word
  uint64_t target_[kMaxTargets];  // places of the best path in the word, the nearest last
  uint32_t targets_ = 0;
  int64_t scores_[kRing];  // by place: the sum of the best path to it
  Window window_;
  union {
    Step of_window[kWindow + 1];
    Pass of_pass;
  } steps_;
};

}  // namespace

void encode_unigram(SequenceState& state, uint32_t end) { UnigramEncoder(state, end).run(end); }

}  // namespace embert
