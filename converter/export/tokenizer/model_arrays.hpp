// SPDX-License-Identifier: Apache-2.0
// Writes the arrays that a tokenizer model has in a section (runtime/format/TOKENIZER_FORMAT.md).
// Each function throws ConvertError where the format can not hold the tokenizer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "converter/export/tokenizer/section_bytes.hpp"
#include "converter/model/tokenizer_spec.hpp"
#include "runtime/format/tokenizer_format.hpp"

namespace embert::convert {

/// Fill the header's fields that belong to the model, roots of the vocabulary's trie included, and
/// return the trie's units.
std::vector<std::uint32_t> make_wordpiece_units(const TokenizerSpec& spec, TokenizerHeader* header);
std::vector<std::uint32_t> make_unigram_units(const TokenizerSpec& spec, TokenizerHeader* header);

/// Appends the model's own header and arrays, behind the common ones.
void append_unigram(const TokenizerSpec& spec, SectionBytes* section);

/// The strings that added tokens with "normalized" are searched by: their content behind the
/// normalizer. Content beyond ASCII is refused, because it needs the runtime's Unicode tables.
std::string normalize_wordpiece(const AddedTokenSpec& token, const WordPieceSpec& spec);
/// Reads the charsmap once for all tokens.
std::function<std::string(const AddedTokenSpec&)> unigram_normalizer(const UnigramSpec& spec);

/// Returns the units of the trie of symbols and appends the model's header and arrays to `part`.
std::vector<std::uint32_t> append_bpe_part(const BpeSpec& bpe, TokenizerHeader* header,
                                           SectionBytes* part);
std::string normalize_bpe(const AddedTokenSpec& token, const BpeSpec& spec);

/// Refuses content beyond ASCII.
void require_ascii(const AddedTokenSpec& token);

}  // namespace embert::convert
