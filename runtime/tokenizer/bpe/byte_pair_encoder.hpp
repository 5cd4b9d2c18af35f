// SPDX-License-Identifier: Apache-2.0
// The bytes of one word to symbols: exactly what merging by rank gives, leftmost first among
// equals, in bounded memory and one pass from left to right.
//
// A sequence of symbols is the encoding of its bytes if and only if all its neighbours are
// (are_neighbours; Berglund and van der Merwe 2023, "Formalizing BPE Tokenization", where a merge
// inside the span of some symbols of the result happens as if nothing else were there). So each
// beginning of a word has one last symbol, and the encoding of the beginning without it comes
// before: the encoder finds the last symbol of each beginning, in rising order, and then goes back
// from the end of the word.
//
// A long word is cut at a position that the encodings of all longer beginnings share. How far
// ahead one must read to find it depends on the vocabulary only (the same paper, section 5): as far
// as the longest chain of merges that depend on each other. The encoder keeps the symbols of one
// block and reads at most kMostAhead bytes: tables that contradict each other need not have such a
// position, and each block would read the whole word. These, and a chain of more than 8,192 merges,
// may get other symbols than merging by rank.
#ifndef EMBERT_RUNTIME_TOKENIZER_BPE_BYTE_PAIR_ENCODER_HPP_
#define EMBERT_RUNTIME_TOKENIZER_BPE_BYTE_PAIR_ENCODER_HPP_

#include <stdint.h>

#include "runtime/tokenizer/bpe/byte_pair_tables.hpp"
#include "runtime/tokenizer/vocabulary.hpp"

namespace embert {

/// Bytes: `uint8_t at(uint32_t i)` gives byte i of the word, for any i from the last rewind(b) on
/// that is less than 256 below the greatest one asked for; `void rewind(uint32_t b)` with rising
/// b. Sink: `void emit(uint32_t symbol, uint32_t begin, uint32_t end)` gets the symbols from left
/// to right with their bytes. It is called only between at() and rewind() of the same begin or
/// later.
template <typename Bytes, typename Sink>
class BytePairEncoder {
 public:
  BytePairEncoder(const BytePairTables& tables, Bytes& bytes, Sink& sink)
      : tables_(tables), bytes_(bytes), sink_(sink) {}

  /// Encodes the word of `length` bytes.
  void encode(uint32_t length) {
    uint32_t before = kNoSymbol;  // the symbol that ends where the block begins
    for (uint32_t begin = 0; begin < length;) {
      const uint32_t cut = find_cut(begin, length - begin, before);
      before = emit_path(begin, cut);
      begin += cut;
      if (begin < length) bytes_.rewind(begin);
    }
  }

 private:
  // Positions of a block whose symbols are kept. More than the bytes of a symbol, so that each path
  // has a position among the last 255 of the block.
  static constexpr uint32_t kBlock = 512;
  static constexpr uint32_t kAhead = 256;      // positions that a symbol can reach, and 0
  static constexpr uint32_t kCheckEvery = 64;  // positions, behind the block
  static constexpr uint32_t kMostAhead = 1 << 14;

  // The last symbol of a beginning; 0: not found yet.
  struct Step {
    uint32_t packed;

    static Step of(uint32_t symbol, uint32_t bytes) { return {symbol << 8 | bytes}; }
    uint32_t symbol() const { return packed >> 8; }
    uint32_t bytes() const { return packed & 0xFF; }
  };

  struct Position {
    uint32_t block;  // where the block begins, in bytes of the word
    uint32_t at;     // in bytes of the block
    uint32_t left;   // bytes of the word from the block's begin on
  };

  // Fills kept_ and returns a position 1..kBlock of the block that the word's encoding has.
  uint32_t find_cut(uint32_t begin, uint32_t left, uint32_t before) {
    for (uint32_t i = 0; i < kAhead && i <= left; ++i) ahead_[i] = {0};
    farthest_ = 0;
    for (Position from = {begin, 0, left};; ++from.at) {
      const uint32_t at = from.at;
      if (at > kBlock && at % kCheckEvery == 0) {
        const uint32_t cut = at < kMostAhead ? shared_cut() : ahead_cut_[farthest_ % kAhead];
        if (cut != 0) return cut;
      }
      const Step step = ahead_[at % kAhead];
      ahead_[at % kAhead] = {0};
      if (at <= kBlock) kept_[at] = step;
      // Behind a cut, beginnings whose encoding does not have the cut are not found.
      if (at != 0 && step.packed == 0) continue;
      const uint32_t cut = at <= kBlock ? at : ahead_cut_[at % kAhead];
      extend(from, at == 0 ? before : step.symbol(), cut);
      if (farthest_ < left) continue;
      // The end of the word is found.
      if (left > kBlock) return cut;
      kept_[left] = ahead_[left % kAhead];
      return left;
    }
  }

  // Finds the beginnings whose last symbol starts at a position behind the symbol `before`.
  void extend(const Position& from, uint32_t before, uint32_t cut) {
    const uint32_t left = from.left - from.at;
    const uint32_t most = left < kAhead ? left : kAhead - 1;
    uint32_t base = tables_.root;
    for (uint32_t length = 1; length <= most; ++length) {
      const uint8_t byte = bytes_.at(from.block + from.at + length - 1);
      const uint32_t unit = child_unit(tables_.units, base, byte);
      if (unit == 0) break;
      base = unit >> kUnitPayloadShift;
      const bool leaf = (unit & kUnitIsLeaf) != 0;
      if (leaf || (unit & kUnitHasValue) != 0) {
        const uint32_t symbol = leaf ? base : tables_.units[base] >> kUnitPayloadShift;
        if (ahead_[(from.at + length) % kAhead].packed == 0 &&
            (before == kNoSymbol || are_neighbours(tables_, before, symbol))) {
          reach(from.at + length, Step::of(symbol, length), cut);
        }
      }
      if (leaf) break;
    }
    // Only in a broken section nothing goes on here or from a later position.
    if (farthest_ <= from.at) {
      reach(from.at + 1, Step::of(bytes_.at(from.block + from.at), 1), cut);
    }
  }

  void reach(uint32_t end, Step step, uint32_t cut) {
    ahead_[end % kAhead] = step;
    ahead_cut_[end % kAhead] = static_cast<uint16_t>(cut);
    if (end > farthest_) farthest_ = end;
  }

  // The cut of all beginnings that are found ahead, or 0 if they have different ones.
  uint32_t shared_cut() const {
    uint32_t cut = 0;
    for (uint32_t i = 0; i < kAhead; ++i) {
      if (ahead_[i].packed == 0) continue;
      if (cut != 0 && ahead_cut_[i] != cut) return 0;
      cut = ahead_cut_[i];
    }
    return cut;
  }

  // Emits the symbols of the block up to `end` and returns the last one.
  uint32_t emit_path(uint32_t block, uint32_t end) {
    // Turn the path round: each step moves from where it ends to where it begins.
    Step step = kept_[end];
    for (uint32_t at = end; at != 0;) {
      at -= step.bytes();
      const Step earlier = kept_[at];
      kept_[at] = step;
      step = earlier;
    }
    for (uint32_t at = 0; at != end;) {
      step = kept_[at];
      sink_.emit(step.symbol(), block + at, block + at + step.bytes());
      at += step.bytes();
    }
    return step.symbol();
  }

  const BytePairTables& tables_;
  Bytes& bytes_;
  Sink& sink_;
  Step kept_[kBlock + 1];
  Step ahead_[kAhead];
  uint16_t ahead_cut_[kAhead];
  uint32_t farthest_ = 0;  // of the positions that are found
};

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_BPE_BYTE_PAIR_ENCODER_HPP_
