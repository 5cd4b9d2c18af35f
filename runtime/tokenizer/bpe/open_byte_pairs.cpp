// SPDX-License-Identifier: Apache-2.0
// Validates the part of a section that belongs to a byte-level BPE, by the rules of
// TOKENIZER_FORMAT.md.
#include <string.h>

#include "runtime/tokenizer/bpe/byte_pair_section.hpp"
#include "runtime/tokenizer/section_checks.hpp"

namespace embert {

using Status = TokenizerStatus;

TokenizerStatus locate_bpe(SectionLayout& layout, const TokenizerView& view) {
  const uint8_t* const part = layout.take(sizeof(BytePairHeader));
  if (part == nullptr) return Status::kSectionBadSize;
  const BytePairHeader& header = *reinterpret_cast<const BytePairHeader*>(part);
  bool ok = view.header->word_unit_count >= kUnitSpan;
  ok = ok && header.flags <= kBytePairAllFlags;
  ok = ok && header.merge_count <= kMaxTokenizerTokens - kByteSymbols;
  ok = ok && header.merge_count + kByteSymbols <= view.header->token_count;
  ok = ok && header.pair_slot_count > header.merge_count;
  ok = ok && header.pair_slot_count <= kMaxPairSlots;
  ok = ok && header.pair_probes >= 1 && header.pair_probes <= kMaxPairProbes;
  for (const uint32_t reserved : header.reserved) ok = ok && reserved == 0;
  if (!ok) return Status::kSectionBadModel;
  const uint64_t symbols = uint64_t{kByteSymbols} + header.merge_count;
  layout.take(uint64_t{header.merge_count} * 2 * sizeof(uint32_t));
  layout.take(uint64_t{header.pair_slot_count} * sizeof(uint32_t));
  layout.take(symbols * sizeof(uint32_t));
  return Status::kOk;
}

namespace {

/// The string of a symbol's token.
struct SymbolString {
  const uint8_t* begin;
  uint32_t bytes;
};

SymbolString string_of(const TokenizerView& view, const BytePairSection& part, uint32_t symbol) {
  const uint32_t id = part.symbol_ids[symbol];
  const uint32_t begin = string_begin(view, id);
  return {view.strings + begin, string_begin(view, id + 1) - begin};
}

/// Whether the strings of tokens are joined as the symbols are. None is empty, so undoing merges
/// ends after as many steps as a token's string has bytes.
bool strings_join(const TokenizerView& view, const BytePairSection& part) {
  for (uint32_t byte = 0; byte < kByteSymbols; ++byte) {
    if (string_of(view, part, byte).bytes == 0) return false;
  }
  for (uint32_t i = 0; i < part.header->merge_count; ++i) {
    const SymbolString whole = string_of(view, part, kByteSymbols + i);
    const SymbolString left = string_of(view, part, part.tables.parts[size_t{2} * i]);
    const SymbolString right = string_of(view, part, part.tables.parts[size_t{2} * i + 1]);
    if (whole.bytes != left.bytes + right.bytes ||
        memcmp(whole.begin, left.begin, left.bytes) != 0 ||
        memcmp(whole.begin + left.bytes, right.begin, right.bytes) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

// A hostile section may name any symbols in the trie and the slots: no number is out of range.
// Whether the merges agree with the trie is not checked: the encoder uses no length but that of the
// text that it has read.
TokenizerStatus check_bpe(const TokenizerView& view) {
  const BytePairSection part = byte_pair_section(view);
  const uint32_t merges = part.header->merge_count;
  for (uint32_t i = 0; i < merges; ++i) {
    const uint32_t* const parts = part.tables.parts + size_t{2} * i;
    if (parts[0] >= kByteSymbols + i || parts[1] >= kByteSymbols + i)
      return Status::kSectionBadModel;
  }
  for (uint32_t i = 0; i < part.header->pair_slot_count; ++i) {
    const uint32_t slot = part.tables.pair_slots[i];
    const uint32_t symbol = slot & kPairSymbolMask;
    if (slot != 0 && (symbol < kByteSymbols || symbol >= kByteSymbols + merges))
      return Status::kSectionBadModel;
  }
  for (uint32_t i = 0; i < kByteSymbols + merges; ++i) {
    if (part.symbol_ids[i] >= view.header->token_count) return Status::kSectionBadModel;
  }
  if (!strings_join(view, part)) return Status::kSectionBadModel;
  return check_units(view.word_units, view.header->word_unit_count, kByteSymbols + merges);
}

}  // namespace embert
