// SPDX-License-Identifier: Apache-2.0
// The tokenizer section of a blob: its structs and limits. TOKENIZER_FORMAT.md is the
// specification.
#ifndef EMBERT_RUNTIME_FORMAT_TOKENIZER_FORMAT_HPP_
#define EMBERT_RUNTIME_FORMAT_TOKENIZER_FORMAT_HPP_

#include <stddef.h>
#include <stdint.h>

namespace embert {

constexpr uint32_t kTokenizerMagic = 0x4B545745;  // "EWTK"
/// Version 1 holds WordPiece. Version 2 holds the other models, whose own header and arrays follow
/// the six common arrays.
constexpr uint32_t kTokenizerVersion = 1;
constexpr uint32_t kTokenizerVersionOfModels = 2;

enum class TokenizerModel : uint32_t {
  kWordPiece = 0,
  kUnigram = 1,
  kBpe = 2,
};
constexpr uint32_t kTokenizerModels = 3;

/// Every array of the section begins at a multiple of this, and so does the section itself.
constexpr uint32_t kTokenizerAlignment = 64;

constexpr uint32_t kMaxTokenizerTokens = 1u << 20;
constexpr uint32_t kMaxTokenizerUnits = 1u << 21;
constexpr uint32_t kMaxAddedTokens = 1u << 16;
constexpr uint32_t kMaxTokenBytes = 255;
/// Of a token's string. A byte-level BPE writes each byte as a character of one or two bytes.
constexpr uint32_t max_string_bytes(TokenizerModel model) {
  return model == TokenizerModel::kBpe ? 2 * kMaxTokenBytes : kMaxTokenBytes;
}
constexpr uint32_t kMaxWordChars = 200;
constexpr uint32_t kMaxPrefixBytes = 16;
constexpr uint32_t kMaxTemplatePieces = 8;
constexpr uint32_t kMaxTypeId = 255;
constexpr uint32_t kMaxTokensLimit = 0x7FFFFFFF;

/// An id field of a token that the vocabulary does not have.
constexpr uint32_t kNoToken = 0xFFFFFFFF;
/// In place of a token id in a template: the first and the second text.
constexpr uint32_t kSequenceA = 0xFFFFFFFE;
constexpr uint32_t kSequenceB = 0xFFFFFFFD;

enum TokenizerFlags : uint32_t {
  kTokenizerLowercase = 1u << 0,
  kTokenizerStripAccents = 1u << 1,
  kTokenizerSplitCjk = 1u << 2,
  kTokenizerCleanText = 1u << 3,
  kTokenizerHasRawTokens = 1u << 4,
  kTokenizerHasNormalizedTokens = 1u << 5,
  kTokenizerAllFlags = (1u << 6) - 1,  // of version 1
  kTokenizerTrimOffsets = 1u << 6,     // version 2: offsets leave out white space around a token
  kTokenizerTrimKeepsSpace = 1u << 7,  // but one space at the begin of a text stays in them
  kTokenizerModelFlags = kTokenizerHasRawTokens | kTokenizerHasNormalizedTokens |
                         kTokenizerTrimOffsets | kTokenizerTrimKeepsSpace,
};

struct TokenizerTemplatePiece {
  uint32_t token_id;  // a token, kSequenceA or kSequenceB
  uint32_t type_id;
};

struct TokenizerTemplate {
  uint32_t count;
  TokenizerTemplatePiece pieces[kMaxTemplatePieces];
};

struct TokenizerHeader {
  uint32_t magic;
  uint32_t version;
  uint32_t section_bytes;
  uint32_t flags;
  uint32_t token_count;
  uint32_t word_unit_count;
  uint32_t added_unit_count;
  uint32_t added_count;
  uint32_t string_bytes;
  uint32_t word_root;
  uint32_t continuation_root;
  uint32_t raw_root;
  uint32_t normalized_root;
  uint32_t max_word_chars;
  uint32_t max_tokens;
  uint32_t unk_id;
  uint32_t cls_id;
  uint32_t sep_id;
  uint32_t pad_id;
  uint32_t mask_id;
  uint32_t prefix_bytes;
  uint8_t prefix[kMaxPrefixBytes];
  TokenizerTemplate single;
  TokenizerTemplate pair;
  uint32_t model;  // TokenizerModel
  uint32_t reserved[4];
};
static_assert(sizeof(TokenizerHeader) == 256, "the header is four lines of 64 bytes");

enum AddedTokenFlags : uint32_t {
  kAddedTokenStripLeft = 1u << 0,
  kAddedTokenStripRight = 1u << 1,
  kAddedTokenAllFlags = (1u << 2) - 1,
};

struct AddedTokenRecord {
  uint32_t id;
  uint32_t flags;
};

// A unit of a double-array trie: bits 0-7 the byte that leads here, then flags, then a payload of
// 21 bits.
constexpr uint32_t kUnitIsChild = 1u << 8;
constexpr uint32_t kUnitIsLeaf = 1u << 9;
constexpr uint32_t kUnitHasValue = 1u << 10;
constexpr uint32_t kUnitPayloadShift = 11;
/// A node of base b has its child for byte c in unit b + 1 + c and its own value in unit b.
constexpr uint32_t kUnitSpan = 257;

// ---- Unigram (version 2, model 1): its header, then the arrays scores, charsmap and byte_ids

enum UnigramFlags : uint32_t {
  kUnigramByteFallback = 1u << 0,  // unknown characters become pieces of their bytes
  kUnigramNfkd = 1u << 1,
  kUnigramStripAccents = 1u << 2,
  kUnigramLowercase = 1u << 3,
  kUnigramStripLeft = 1u << 4,  // white space at the begin of a text vanishes
  kUnigramStripRight = 1u << 5,
  kUnigramReplaceSpaces = 1u << 6,  // a run of two spaces or more becomes spaces_content
  kUnigramWhitespaceSplit = 1u << 7,
  kUnigramSplitWords = 1u << 8,     // a word ends before each word_mark
  kUnigramPrependAlways = 1u << 9,  // a word gets a word_mark in front
  kUnigramPrependFirst = 1u << 10,  // only the word at the begin of the text does
  kUnigramAllFlags = (1u << 11) - 1,
};

constexpr uint32_t kMaxPieceChars = 63;
constexpr uint32_t kMaxReplaced = 4;
constexpr uint32_t kMaxPatternChars = 4;
constexpr uint32_t kMaxCharsmapBytes = 1u << 24;
/// A score of 1: scores are multiples of 2^-24.
constexpr int64_t kScoreOne = 1 << 24;

/// A string that one character replaces before all other steps.
struct UnigramReplace {
  uint32_t length;                     // of the pattern, 0: not used
  uint32_t pattern[kMaxPatternChars];  // code points, then zeros
  uint32_t content;
};

struct UnigramHeader {
  uint32_t flags;
  uint32_t max_piece_chars;
  uint32_t word_mark;         // code point that takes the place of a space
  uint32_t spaces_content;    // code point; 0 without kUnigramReplaceSpaces
  uint32_t charsmap_bytes;    // 0: none
  uint32_t unknown_score[2];  // signed 64-bit, low word first: of a character that is no piece
  uint32_t plain[4];  // bit b: the normalizer leaves ASCII character b before another one as it is
  UnigramReplace replace[kMaxReplaced];
  uint32_t reserved[13];
};
static_assert(sizeof(UnigramHeader) == 192, "the header is three lines of 64 bytes");

/// Strings start at blocks[i / kStringBlock] + starts[i].
constexpr uint32_t kStringBlock = 256;

}  // namespace embert

#endif  // EMBERT_RUNTIME_FORMAT_TOKENIZER_FORMAT_HPP_
