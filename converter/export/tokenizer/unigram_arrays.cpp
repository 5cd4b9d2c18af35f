// SPDX-License-Identifier: Apache-2.0
// Unigram's part of a section: its steps as flags, scores on the grid, charsmap, pieces of bytes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "converter/convert_error.hpp"
#include "converter/export/tokenizer/charsmap_keys.hpp"
#include "converter/export/tokenizer/double_array.hpp"
#include "converter/export/tokenizer/model_arrays.hpp"
#include "converter/model/code_points.hpp"

namespace embert::convert {
namespace {

using StepKind = NormalizerStep::Kind;
using SplitKind = PreTokenizerStep::Kind;

constexpr double kUnknownPenalty = 10.0;  // of the package tokenizers

[[noreturn]] void refuse(const std::string& what) { throw ConvertError("tokenizer: " + what); }

std::vector<std::uint32_t> characters_of(const std::string& text) {
  if (!is_utf8(text)) refuse("\"" + printable(text, 40) + "\" is not UTF-8");
  return code_points(text);
}

std::uint32_t only_character(const std::string& text, const std::string& what) {
  const std::vector<std::uint32_t> characters = characters_of(text);
  if (characters.size() != 1 || characters[0] == 0) {
    refuse(what + " \"" + printable(text, 40) + "\" is not supported; expected one character");
  }
  return characters[0];
}

bool is_run_of_spaces(const NormalizerStep& step) {
  return step.kind == StepKind::kReplace && step.is_regex && step.pattern == " {2,}";
}

// The runtime does the steps in this order.
int rank_of(const NormalizerStep& step) {
  switch (step.kind) {
    case StepKind::kReplace:
      if (is_run_of_spaces(step)) return 6;
      if (step.is_regex) {
        refuse("normalizer Replace of regular expression \"" + printable(step.pattern, 40) +
               "\" is not supported with Unigram; \" {2,}\" is");
      }
      return 0;
    case StepKind::kNfkd:
      return 1;
    case StepKind::kStripAccents:
      return 2;
    case StepKind::kLowercase:
      return 3;
    case StepKind::kPrecompiled:
      return 4;
    case StepKind::kStrip:
      return 5;
    default:
      refuse(std::string("normalizer ") + step_name(step.kind) +
             " is not supported with Unigram; expected Replace, NFKD, StripAccents, Lowercase, "
             "Precompiled and Strip");
  }
}

// Several replacements at once give what they give one after the other if they share no character.
void add_replace(const NormalizerStep& step, std::uint32_t count, UnigramHeader* header) {
  const std::string what = "normalizer Replace of \"" + printable(step.pattern, 40) + "\"";
  const std::vector<std::uint32_t> pattern = characters_of(step.pattern);
  if (pattern.empty() || pattern.size() > kMaxPatternChars || count == kMaxReplaced) {
    refuse(what + " is not supported; up to " + std::to_string(kMaxReplaced) +
           " patterns of 1 to " + std::to_string(kMaxPatternChars) + " characters are");
  }
  // The runtime's 0 is the end of a pattern.
  if (std::count(pattern.begin(), pattern.end(), 0u) != 0) {
    refuse(what + " is not supported; take U+0000 out of the pattern");
  }
  UnigramReplace& replace = header->replace[count];
  replace.content = only_character(step.content, what + " by");
  for (std::uint32_t i = 0; i < count; ++i) {
    const UnigramReplace& other = header->replace[i];
    for (const std::uint32_t c : pattern) {
      if (c == other.content || std::count(other.pattern, other.pattern + other.length, c) != 0) {
        refuse(what + " is not supported behind one that shares a character with it");
      }
    }
  }
  replace.length = static_cast<std::uint32_t>(pattern.size());
  std::copy(pattern.begin(), pattern.end(), replace.pattern);
}

void add_normalizer(const UnigramSpec& spec, UnigramHeader* header) {
  int last = -1;
  std::uint32_t replaced = 0;
  for (const NormalizerStep& step : spec.normalizer) {
    const int rank = rank_of(step);
    if (rank < last || (rank == last && rank != 0)) {
      refuse(std::string("normalizer ") + step_name(step.kind) +
             " stands where Unigram has none; supported are Replace, NFKD, StripAccents, "
             "Lowercase, Precompiled, Strip and Replace of \" {2,}\", in this order");
    }
    last = rank;
    if (step.kind == StepKind::kNfkd) header->flags |= kUnigramNfkd;
    if (step.kind == StepKind::kStripAccents) header->flags |= kUnigramStripAccents;
    if (step.kind == StepKind::kLowercase) header->flags |= kUnigramLowercase;
    if (step.kind == StepKind::kStrip && step.strip_left) header->flags |= kUnigramStripLeft;
    if (step.kind == StepKind::kStrip && step.strip_right) header->flags |= kUnigramStripRight;
    if (is_run_of_spaces(step)) {
      header->flags |= kUnigramReplaceSpaces;
      header->spaces_content = only_character(step.content, "normalizer Replace of spaces by");
    } else if (step.kind == StepKind::kReplace) {
      add_replace(step, replaced++, header);
    }
  }
}

void add_pre_tokenizer(const UnigramSpec& spec, UnigramHeader* header) {
  const auto& steps = spec.pre_tokenizer;
  const bool splits = steps.size() == 2 && steps[0].kind == SplitKind::kWhitespaceSplit;
  if (steps.size() != (splits ? 2 : 1) || steps.back().kind != SplitKind::kMetaspace) {
    std::string found;
    for (const PreTokenizerStep& step : steps) {
      found += (found.empty() ? "" : ", ") + std::string(step_name(step.kind));
    }
    refuse("pre_tokenizer " + (found.empty() ? "(none)" : found) +
           " is not supported with Unigram; expected Metaspace, or WhitespaceSplit and Metaspace");
  }
  const PreTokenizerStep& mark = steps.back();
  header->word_mark = only_character(mark.replacement, "pre_tokenizer Metaspace: replacement");
  header->flags |= splits ? std::uint32_t{kUnigramWhitespaceSplit} : 0u;
  header->flags |= mark.split ? std::uint32_t{kUnigramSplitWords} : 0u;
  if (mark.prepend == PreTokenizerStep::Prepend::kAlways) header->flags |= kUnigramPrependAlways;
  if (mark.prepend == PreTokenizerStep::Prepend::kFirst) header->flags |= kUnigramPrependFirst;
}

std::int64_t on_grid(double score, const std::string& piece) {
  const double scaled = score * static_cast<double>(kScoreOne);
  if (!std::isfinite(score) || scaled != std::floor(scaled) || std::fabs(scaled) >= 0x1p31) {
    char text[32];
    (void)std::snprintf(text, sizeof(text), "%.17g", score);
    refuse("score " + std::string(text) + " of piece \"" + printable(piece, 40) +
           "\" is no multiple of 2^-24 between -128 and 128, so sums of scores would not be those "
           "of the package tokenizers; scores that sentencepiece trains are");
  }
  return static_cast<std::int64_t>(scaled);
}

const std::vector<std::uint8_t>* charsmap_of(const UnigramSpec& spec) {
  for (const NormalizerStep& step : spec.normalizer) {
    if (step.kind == StepKind::kPrecompiled) return &step.charsmap;
  }
  return nullptr;
}

bool is_white_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

void mark_plain(const UnigramSpec& spec, UnigramHeader* header) {
  std::map<char, std::string> replaced;
  if (const auto* charsmap = charsmap_of(spec)) replaced = read_charsmap(*charsmap);
  const bool blanks_differ = (header->flags & (kUnigramStripLeft | kUnigramStripRight)) != 0;
  for (std::uint32_t byte = 1; byte < 128; ++byte) {
    const char c = static_cast<char>(byte);
    bool plain = !replaced.contains(c) && c != '\r';
    plain = plain && !(c >= 'A' && c <= 'Z' && (header->flags & kUnigramLowercase) != 0);
    plain = plain && !(is_white_space(c) && blanks_differ);
    plain = plain && !(c == ' ' && (header->flags & kUnigramReplaceSpaces) != 0);
    for (const UnigramReplace& replace : header->replace) {
      plain = plain && (replace.length == 0 || replace.pattern[0] != byte);
    }
    if (plain) header->plain[byte / 32] |= 1u << byte % 32;
  }
}

std::uint32_t longest_piece(const TokenizerSpec& spec) {
  std::size_t longest = 1;
  for (std::size_t id = 0; id < spec.tokens.size(); ++id) {
    if (!spec.in_vocabulary[id]) continue;
    const std::size_t characters = characters_of(spec.tokens[id]).size();
    if (characters > kMaxPieceChars) {
      refuse("piece \"" + printable(spec.tokens[id], 40) + "\" has " + std::to_string(characters) +
             " characters, at most " + std::to_string(kMaxPieceChars) + " are supported");
    }
    longest = std::max(longest, characters);
  }
  return static_cast<std::uint32_t>(longest);
}

std::vector<std::uint32_t> byte_pieces(const TokenizerSpec& spec) {
  std::unordered_map<std::string, std::uint32_t> ids;
  for (std::size_t id = 0; id < spec.tokens.size(); ++id) {
    if (spec.in_vocabulary[id]) ids.emplace(spec.tokens[id], static_cast<std::uint32_t>(id));
  }
  std::vector<std::uint32_t> out;
  for (unsigned byte = 0; byte < 256; ++byte) {
    char name[8];
    (void)std::snprintf(name, sizeof(name), "<0x%02X>", byte);
    const auto found = ids.find(name);
    out.push_back(found == ids.end() ? kNoToken : found->second);
  }
  return out;
}

UnigramHeader make_header(const UnigramSpec& spec) {
  UnigramHeader header = {};
  if (spec.byte_fallback) header.flags |= kUnigramByteFallback;
  add_normalizer(spec, &header);
  add_pre_tokenizer(spec, &header);
  mark_plain(spec, &header);
  return header;
}

// `replaced`: what the charsmap makes of ASCII characters.
std::string normalize(const AddedTokenSpec& token, const UnigramHeader& header,
                      const std::map<char, std::string>& replaced) {
  require_ascii(token);
  std::string out;
  for (const char c : token.content) {
    const bool lower = (header.flags & kUnigramLowercase) != 0 && c >= 'A' && c <= 'Z';
    const char kept = static_cast<char>(lower ? c + 32 : c);
    bool begins = (header.flags & kUnigramReplaceSpaces) != 0 && kept == ' ';
    begins = begins || (is_white_space(kept) &&
                        (header.flags & (kUnigramStripLeft | kUnigramStripRight)) != 0);
    for (const UnigramReplace& replace : header.replace) {
      begins =
          begins || (replace.length != 0 && replace.pattern[0] == static_cast<std::uint32_t>(c));
    }
    if (begins) {
      refuse("added token \"" + printable(token.content, 40) +
             "\" is \"normalized\" and holds characters that the normalizer replaces, which is "
             "not supported; set \"normalized\" to false");
    }
    const auto found = replaced.find(kept);
    out += found == replaced.end() ? std::string(1, kept) : found->second;
  }
  return out;
}

}  // namespace

std::vector<std::uint32_t> make_unigram_units(const TokenizerSpec& spec, TokenizerHeader* header) {
  if (spec.trim_offsets) {
    refuse("post_processor: \"trim_offsets\": true is not supported with Unigram");
  }
  std::vector<DoubleArray::Entry> pieces;
  for (std::size_t id = 0; id < spec.tokens.size(); ++id) {
    if (spec.in_vocabulary[id]) {
      pieces.push_back({spec.tokens[id], static_cast<std::uint32_t>(id)});
    }
  }
  DoubleArray trie;
  header->word_root = trie.add(std::move(pieces), true);
  return trie.finish();
}

void append_unigram(const TokenizerSpec& spec, SectionBytes* section) {
  const UnigramSpec& unigram = spec.unigram();
  UnigramHeader header = make_header(unigram);
  header.max_piece_chars = longest_piece(spec);
  std::vector<std::int32_t> scores(spec.tokens.size(), 0);
  double least = unigram.least_score.value_or(HUGE_VAL);
  for (std::size_t id = 0; id < unigram.scores.size(); ++id) {
    scores[id] = static_cast<std::int32_t>(on_grid(unigram.scores[id], spec.tokens[id]));
    least = std::min(least, unigram.scores[id]);
  }
  const auto unknown = static_cast<std::uint64_t>(
      static_cast<std::int64_t>((least - kUnknownPenalty) * static_cast<double>(kScoreOne)));
  header.unknown_score[0] = static_cast<std::uint32_t>(unknown);
  header.unknown_score[1] = static_cast<std::uint32_t>(unknown >> 32);
  const std::vector<std::uint8_t>* charsmap = charsmap_of(unigram);
  if (charsmap != nullptr) header.charsmap_bytes = static_cast<std::uint32_t>(charsmap->size());
  section->append(std::vector<UnigramHeader>{header});
  section->append(scores);
  section->append(charsmap != nullptr ? *charsmap : std::vector<std::uint8_t>{});
  if (unigram.byte_fallback) section->append(byte_pieces(spec));
}

std::function<std::string(const AddedTokenSpec&)> unigram_normalizer(const UnigramSpec& spec) {
  const UnigramHeader header = make_header(spec);
  std::map<char, std::string> replaced;
  if (const auto* charsmap = charsmap_of(spec)) replaced = read_charsmap(*charsmap);
  return [header, replaced](const AddedTokenSpec& token) {
    return normalize(token, header, replaced);
  };
}

}  // namespace embert::convert
