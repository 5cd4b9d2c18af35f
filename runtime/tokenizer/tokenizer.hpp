// SPDX-License-Identifier: Apache-2.0
// Text to token ids with the results of the Hugging Face package tokenizers.
// No heap and no state: a view points into the blob's section, results go into the caller's arrays,
// and a call needs about 5 KB of stack (Unigram 11 KB) whatever the text. Time is linear in the
// text; a window of a long text costs one or two passes.
#ifndef EMBERT_RUNTIME_TOKENIZER_TOKENIZER_HPP_
#define EMBERT_RUNTIME_TOKENIZER_TOKENIZER_HPP_

#include <stddef.h>
#include <stdint.h>

#include "runtime/format/tokenizer_format.hpp"

// Of embert/embert_tokenizer.h.
struct embert_text;
struct embert_tokenize_options;
struct embert_tokens;

namespace embert {

enum class TokenizerStatus : int32_t {
  kOk = 0,
  // Calls.
  kNullArgument = 1,      // a pointer that must not be null is null
  kBadOption = 2,         // max_tokens, stride or truncation outside their ranges
  kTextTooLong = 3,       // a text of more than kMaxTextBytes bytes
  kCapacityTooSmall = 4,  // tokens->length is the room that is needed
  kStrideTooLarge = 5,    // the stride is not smaller than the room for text
  kSequenceTooShort = 6,  // only_first/only_second: that text is too short to be cut by so much
  kNoSecondSequence = 7,  // only_second without a second text, and the first does not fit
  kWindowOutOfRange = 8,  // tokens->windows is their number
  kTokenOutOfRange = 9,   // no token has this id
  // Sections that are refused.
  kSectionMisaligned = 20,  // not at a multiple of 64 in memory
  kSectionTruncated = 21,   // shorter than its header, or than the header says
  kSectionBadMagic = 22,
  kSectionBadVersion = 23,
  kSectionBadHeader = 24,   // a count, flag, limit or reserved field out of range
  kSectionBadSize = 25,     // the size does not follow from the counts
  kSectionBadPadding = 26,  // bytes between arrays that are not zero
  kSectionBadId = 27,       // a special token's id out of range
  kSectionBadTemplate =
      28,  // not each text exactly once and in order, or an id or type out of range
  kSectionBadStrings = 29,  // starts of strings fall, are too far apart, or do not end at the end
  kSectionBadUtf8 = 30,     // a string, or the prefix, is not UTF-8
  kSectionBadUnit = 31,     // a trie's unit, root or value out of range
  kSectionBadAddedToken = 32,
  kSectionModelNotBuilt = 33,  // a tokenizer model that this build does not have
  kSectionBadModel = 34,       // the model's own header or arrays
};

/// A name such as "section_bad_unit"; never null.
const char* tokenizer_status_name(TokenizerStatus status);

constexpr size_t kMaxTextBytes = 0x3FFFFFFF;

/// A checked section. Filled by tokenizer_open; plain data that may be copied and shared by
/// threads. The section must outlive it.
struct TokenizerView {
  const TokenizerHeader* header;
  const uint32_t* word_units;
  const uint32_t* added_units;
  const AddedTokenRecord* added_tokens;
  const uint32_t* string_blocks;
  const uint16_t* string_starts;
  const uint8_t* strings;
  uint32_t raw_first_bytes[8];  // bit b: an added token that is looked for in the raw text starts
                                // with byte b
  uint32_t normalized_first_bytes[8];  // the same for the normalised text
};

/// Checks every field of a section of `bytes` bytes and fills the view. On any status but kOk the
/// view is all zero. After kOk nothing below can read outside the section, whatever the section
/// contains.
TokenizerStatus tokenizer_open(const uint8_t* section, size_t bytes, TokenizerView* view);

/// The string of a token: UTF-8, not ended by a zero byte, in the section.
TokenizerStatus tokenizer_token(const TokenizerView& view, uint32_t id, const char** string,
                                size_t* bytes);

/// Tokenises a text or a pair. Options and tokens are those of embert_tokenizer.h, in full length:
/// their `size` is not read. Texts may hold any bytes, zeros included; each maximal part that is
/// not UTF-8 counts as one U+FFFD. A null text is allowed if its size is 0. With
/// kCapacityTooSmall, length and windows are valid and the arrays' content is undefined; with
/// kWindowOutOfRange, windows is valid.
///
/// As in Hugging Face, max_tokens below the number of special tokens does not limit; the capacity
/// still does.
TokenizerStatus tokenize(const TokenizerView& view, const embert_text& text,
                         const embert_tokenize_options& options, embert_tokens* tokens);

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_TOKENIZER_HPP_
