// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "converter/convert_error.hpp"
#include "converter/export/tokenizer/double_array.hpp"
#include "converter/export/tokenizer/model_arrays.hpp"

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

}  // namespace

std::string normalize_wordpiece(const AddedTokenSpec& token, const WordPieceSpec& spec) {
  require_ascii(token);
  std::string out;
  for (const char c : token.content) {
    const unsigned char byte = static_cast<unsigned char>(c);
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

std::vector<std::uint32_t> make_wordpiece_units(const TokenizerSpec& spec,
                                                TokenizerHeader* header) {
  const WordPieceSpec& wordpiece = spec.wordpiece();
  if (wordpiece.continuing_prefix.size() > kMaxPrefixBytes) {
    throw ConvertError("tokenizer: continuing_subword_prefix \"" +
                       printable(wordpiece.continuing_prefix, 40) + "\" is longer than " +
                       std::to_string(kMaxPrefixBytes) + " bytes");
  }
  if (wordpiece.max_word_chars < 1 || wordpiece.max_word_chars > kMaxWordChars) {
    throw ConvertError("tokenizer: max_input_chars_per_word is " +
                       std::to_string(wordpiece.max_word_chars) + ", 1 to " +
                       std::to_string(kMaxWordChars) + " are supported");
  }
  header->flags |= (wordpiece.lowercase ? std::uint32_t{kTokenizerLowercase} : 0u) |
                   (wordpiece.strip_accents ? std::uint32_t{kTokenizerStripAccents} : 0u) |
                   (wordpiece.split_cjk ? std::uint32_t{kTokenizerSplitCjk} : 0u) |
                   (wordpiece.clean_text ? std::uint32_t{kTokenizerCleanText} : 0u);
  header->max_word_chars = wordpiece.max_word_chars;
  header->prefix_bytes = static_cast<std::uint32_t>(wordpiece.continuing_prefix.size());
  std::memcpy(header->prefix, wordpiece.continuing_prefix.data(),
              wordpiece.continuing_prefix.size());
  std::vector<DoubleArray::Entry> words;
  std::vector<DoubleArray::Entry> continuations;
  const std::string& prefix = wordpiece.continuing_prefix;
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

}  // namespace embert::convert
