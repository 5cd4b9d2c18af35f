// SPDX-License-Identifier: Apache-2.0
// The section's parts in order: header, tries, added tokens, strings.
#include "converter/export/write_tokenizer_section.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

#include "converter/convert_error.hpp"
#include "converter/export/double_array.hpp"
#include "runtime/format/tokenizer_format.hpp"

namespace embert::convert {
namespace {

bool is_ascii_punctuation(char c) {
  const unsigned char byte = static_cast<unsigned char>(c);
  return byte > ' ' && byte < 0x7F && !(byte >= '0' && byte <= '9') &&
         !((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

bool is_single_character(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }) == 1;
}

// Whether a word can match the entry. Each punctuation character is a word of its own, so an entry
// that holds punctuation and more ("[unused1]", "##-") never matches.
bool can_be_piece(std::string_view text, bool continues) {
  if (text.empty()) return false;
  if (std::none_of(text.begin(), text.end(), is_ascii_punctuation)) return true;
  return !continues && is_single_character(text);
}

// The normaliser for ASCII. Other added tokens are refused, because normalising them would need the
// runtime's Unicode tables.
std::string normalize_ascii(const AddedTokenSpec& token, const TokenizerSpec& spec) {
  std::string out;
  for (const char c : token.content) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) {
      throw ConvertError("tokenizer: added token \"" + printable(token.content) +
                         "\" is \"normalized\" and not ASCII, which is not supported; set "
                         "\"normalized\" to false");
    }
    const bool blank = c == '\t' || c == '\n' || c == '\r' || c == ' ';
    if (spec.clean_text && !blank && (byte < 0x20 || byte == 0x7F)) continue;
    if (spec.clean_text && blank) {
      out += ' ';
    } else {
      out += spec.lowercase && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
  }
  return out;
}

TokenizerTemplate make_template(const std::vector<TemplatePieceSpec>& pieces) {
  if (pieces.size() > kMaxTemplatePieces) {
    throw ConvertError("tokenizer: the template has " + std::to_string(pieces.size()) +
                       " pieces, at most " + std::to_string(kMaxTemplatePieces) + " are supported");
  }
  TokenizerTemplate out = {};
  for (const TemplatePieceSpec& piece : pieces) {
    if (piece.type_id > kMaxTypeId) {
      throw ConvertError("tokenizer: type_id " + std::to_string(piece.type_id) +
                         " in the template, at most " + std::to_string(kMaxTypeId) +
                         " is supported");
    }
    const bool token = piece.kind == TemplatePieceSpec::Kind::kToken;
    const bool first = piece.kind == TemplatePieceSpec::Kind::kFirstText;
    out.pieces[out.count++] = {token   ? piece.token_id
                               : first ? kSequenceA
                                       : kSequenceB,
                               piece.type_id};
  }
  return out;
}

// Arrays one after another, each at a multiple of kTokenizerAlignment.
class SectionBytes {
 public:
  template <typename T>
  void append(const std::vector<T>& values) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + values.size() * sizeof(T), 0);
    if (!values.empty()) std::memcpy(bytes_.data() + at, values.data(), values.size() * sizeof(T));
    bytes_.resize(
        (bytes_.size() + kTokenizerAlignment - 1) / kTokenizerAlignment * kTokenizerAlignment, 0);
  }

  std::vector<std::uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

struct StringTable {
  std::vector<std::uint32_t> blocks;
  std::vector<std::uint16_t> starts;
  std::vector<std::uint8_t> bytes;
};

StringTable make_strings(const std::vector<std::string>& tokens) {
  StringTable table;
  for (std::size_t id = 0; id <= tokens.size(); ++id) {
    if (id % kStringBlock == 0)
      table.blocks.push_back(static_cast<std::uint32_t>(table.bytes.size()));
    table.starts.push_back(static_cast<std::uint16_t>(table.bytes.size() - table.blocks.back()));
    if (id == tokens.size()) break;
    if (tokens[id].size() > kMaxTokenBytes) {
      throw ConvertError("tokenizer: token " + std::to_string(id) + " \"" +
                         printable(tokens[id], 40) + "\" has " + std::to_string(tokens[id].size()) +
                         " bytes, at most " + std::to_string(kMaxTokenBytes) + " are supported");
    }
    table.bytes.insert(table.bytes.end(), tokens[id].begin(), tokens[id].end());
  }
  return table;
}

std::vector<std::uint32_t> make_word_units(const TokenizerSpec& spec, TokenizerHeader* header) {
  std::vector<DoubleArray::Entry> words;
  std::vector<DoubleArray::Entry> continuations;
  const std::string& prefix = spec.continuing_prefix;
  for (std::size_t id = 0; id < spec.tokens.size(); ++id) {
    if (!spec.in_vocabulary[id]) continue;
    const std::string& token = spec.tokens[id];
    const std::uint32_t value = static_cast<std::uint32_t>(id);
    if (can_be_piece(token, false)) words.push_back({token, value});
    if (token.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string rest = token.substr(prefix.size());
    if (can_be_piece(rest, true)) continuations.push_back({rest, value});
  }
  DoubleArray tries;
  header->word_root = tries.add(std::move(words), true);
  header->continuation_root = tries.add(std::move(continuations), true);
  return tries.finish();
}

std::vector<std::uint32_t> make_added_units(const TokenizerSpec& spec,
                                            std::vector<AddedTokenRecord>* records,
                                            TokenizerHeader* header) {
  if (spec.added_tokens.empty()) return {};
  if (spec.added_tokens.size() > kMaxAddedTokens) {
    throw ConvertError("tokenizer: " + std::to_string(spec.added_tokens.size()) +
                       " added tokens, at most " + std::to_string(kMaxAddedTokens) +
                       " are supported");
  }
  // Of two tokens with one pattern the first wins; special tokens come before the others.
  std::vector<AddedTokenSpec> tokens = spec.added_tokens;
  std::stable_partition(tokens.begin(), tokens.end(),
                        [](const AddedTokenSpec& t) { return t.special; });
  std::set<std::string> seen[2];
  std::vector<DoubleArray::Entry> patterns[2];
  for (const AddedTokenSpec& token : tokens) {
    const int which = token.normalized ? 1 : 0;
    const std::string pattern = token.normalized ? normalize_ascii(token, spec) : token.content;
    if (pattern.empty())
      throw ConvertError("tokenizer: an added token is empty after normalisation");
    if (pattern.size() > kMaxTokenBytes) {
      throw ConvertError("tokenizer: added token \"" + printable(token.content, 40) +
                         "\" has more than " + std::to_string(kMaxTokenBytes) + " bytes");
    }
    if (seen[which].insert(pattern).second) {
      patterns[which].push_back({pattern, static_cast<std::uint32_t>(records->size())});
    }
    const std::uint32_t flags = (token.strip_left ? std::uint32_t{kAddedTokenStripLeft} : 0u) |
                                (token.strip_right ? std::uint32_t{kAddedTokenStripRight} : 0u);
    records->push_back({token.id, flags});
  }
  if (!patterns[0].empty()) header->flags |= kTokenizerHasRawTokens;
  if (!patterns[1].empty()) header->flags |= kTokenizerHasNormalizedTokens;
  DoubleArray tries;
  header->raw_root = tries.add(std::move(patterns[0]), false);
  header->normalized_root = tries.add(std::move(patterns[1]), false);
  return tries.finish();
}

}  // namespace

std::vector<std::uint8_t> write_tokenizer_section(const TokenizerSpec& spec) {
  if (spec.tokens.empty() || spec.tokens.size() > kMaxTokenizerTokens) {
    throw ConvertError("tokenizer: " + std::to_string(spec.tokens.size()) + " tokens, 1 to " +
                       std::to_string(kMaxTokenizerTokens) + " are supported");
  }
  if (spec.continuing_prefix.size() > kMaxPrefixBytes) {
    throw ConvertError("tokenizer: continuing_subword_prefix \"" +
                       printable(spec.continuing_prefix, 40) + "\" is longer than " +
                       std::to_string(kMaxPrefixBytes) + " bytes");
  }
  if (spec.max_word_chars < 1 || spec.max_word_chars > kMaxWordChars) {
    throw ConvertError("tokenizer: max_input_chars_per_word is " +
                       std::to_string(spec.max_word_chars) + ", 1 to " +
                       std::to_string(kMaxWordChars) + " are supported");
  }
  TokenizerHeader header = {};
  header.magic = kTokenizerMagic;
  header.version = kTokenizerVersion;
  header.flags = (spec.lowercase ? std::uint32_t{kTokenizerLowercase} : 0u) |
                 (spec.strip_accents ? std::uint32_t{kTokenizerStripAccents} : 0u) |
                 (spec.split_cjk ? std::uint32_t{kTokenizerSplitCjk} : 0u) |
                 (spec.clean_text ? std::uint32_t{kTokenizerCleanText} : 0u);
  const StringTable strings = make_strings(spec.tokens);
  const std::vector<std::uint32_t> word_units = make_word_units(spec, &header);
  std::vector<AddedTokenRecord> added;
  const std::vector<std::uint32_t> added_units = make_added_units(spec, &added, &header);
  header.token_count = static_cast<std::uint32_t>(spec.tokens.size());
  header.word_unit_count = static_cast<std::uint32_t>(word_units.size());
  header.added_unit_count = static_cast<std::uint32_t>(added_units.size());
  header.added_count = static_cast<std::uint32_t>(added.size());
  header.string_bytes = static_cast<std::uint32_t>(strings.bytes.size());
  header.max_word_chars = spec.max_word_chars;
  header.max_tokens = spec.max_tokens.value_or(0);
  header.unk_id = spec.unk_id;
  header.cls_id = spec.cls_id.value_or(kNoToken);
  header.sep_id = spec.sep_id.value_or(kNoToken);
  header.pad_id = spec.pad_id.value_or(kNoToken);
  header.mask_id = spec.mask_id.value_or(kNoToken);
  header.prefix_bytes = static_cast<std::uint32_t>(spec.continuing_prefix.size());
  std::memcpy(header.prefix, spec.continuing_prefix.data(), spec.continuing_prefix.size());
  header.single = make_template(spec.single);
  header.pair = make_template(spec.pair);

  SectionBytes section;
  section.append(std::vector<TokenizerHeader>{header});
  section.append(word_units);
  section.append(added_units);
  section.append(added);
  section.append(strings.blocks);
  section.append(strings.starts);
  section.append(strings.bytes);
  header.section_bytes = static_cast<std::uint32_t>(section.bytes().size());
  std::memcpy(section.bytes().data(), &header, sizeof(header));
  return std::move(section.bytes());
}

}  // namespace embert::convert
