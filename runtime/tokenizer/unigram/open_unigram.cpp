// SPDX-License-Identifier: Apache-2.0
// Validates the part of a section that belongs to Unigram, by the rules of TOKENIZER_FORMAT.md.
#include "runtime/tokenizer/section_checks.hpp"
#include "runtime/tokenizer/unigram/unigram_section.hpp"

namespace embert {
namespace {

constexpr uint32_t kMaxCodePoint = 0x10FFFF;
constexpr uint64_t kByteIds = 256;

bool is_character(uint32_t code_point) {
  return code_point != 0 && code_point <= kMaxCodePoint && (code_point & ~0x7FFu) != 0xD800;
}

bool replace_ok(const UnigramReplace& replace) {
  bool ok = replace.length <= kMaxPatternChars;
  for (uint32_t i = 0; ok && i < kMaxPatternChars; ++i) {
    ok = i < replace.length ? is_character(replace.pattern[i]) : replace.pattern[i] == 0;
  }
  return ok && (replace.length != 0 ? is_character(replace.content) : replace.content == 0);
}

bool header_ok(const UnigramHeader& h) {
  const uint32_t both = kUnigramPrependAlways | kUnigramPrependFirst;
  bool ok = h.flags <= kUnigramAllFlags && (h.flags & both) != both;
  ok = ok && h.max_piece_chars >= 1 && h.max_piece_chars <= kMaxPieceChars;
  ok = ok && is_character(h.word_mark);
  ok = ok && ((h.flags & kUnigramReplaceSpaces) != 0 ? is_character(h.spaces_content)
                                                     : h.spaces_content == 0);
  ok = ok && h.charsmap_bytes <= kMaxCharsmapBytes;
  for (const UnigramReplace& replace : h.replace) ok = ok && replace_ok(replace);
  for (const uint32_t reserved : h.reserved) ok = ok && reserved == 0;
  return ok;
}

// The size of the trie and the zero behind the last string are what a look-up relies on.
bool charsmap_ok(const uint8_t* map, uint32_t bytes) {
  if (bytes == 0) return true;
  if (bytes < 4 + 4 + 1 || map[bytes - 1] != 0) return false;
  const uint32_t trie_bytes = *reinterpret_cast<const uint32_t*>(map);
  return trie_bytes % 4 == 0 && trie_bytes >= 4 && trie_bytes <= bytes - 4 - 1;
}

}  // namespace

TokenizerStatus locate_unigram(SectionLayout& layout, const TokenizerView& view) {
  const uint8_t* const part = layout.take(sizeof(UnigramHeader));
  if (part == nullptr) return TokenizerStatus::kSectionBadSize;
  const UnigramHeader& h = *reinterpret_cast<const UnigramHeader*>(part);
  if (!header_ok(h) || view.header->word_unit_count == 0 ||
      (view.header->flags & kTokenizerTrimOffsets) != 0) {
    return TokenizerStatus::kSectionBadModel;
  }
  layout.take(uint64_t{view.header->token_count} * sizeof(int32_t));
  layout.take(h.charsmap_bytes);
  layout.take((h.flags & kUnigramByteFallback) != 0 ? kByteIds * sizeof(uint32_t) : 0);
  return TokenizerStatus::kOk;
}

TokenizerStatus check_unigram(const TokenizerView& view) {
  const UnigramSection section = unigram_section(view);
  // Scores fit 32 bits, so this bound keeps sums of them far from the end of 64 bits.
  const int64_t bound = int64_t{1} << 33;
  const int64_t unknown = section.unknown_score();
  if (unknown < -bound || unknown > bound) return TokenizerStatus::kSectionBadModel;
  if (!charsmap_ok(section.charsmap, section.header->charsmap_bytes)) {
    return TokenizerStatus::kSectionBadModel;
  }
  if (view.header->unk_id == kNoToken) return TokenizerStatus::kSectionBadId;
  for (uint32_t byte = 0; section.has(kUnigramByteFallback) && byte < kByteIds; ++byte) {
    const uint32_t id = section.byte_ids[byte];
    if (id != kNoToken && id >= view.header->token_count) return TokenizerStatus::kSectionBadId;
  }
  return TokenizerStatus::kOk;
}

}  // namespace embert
