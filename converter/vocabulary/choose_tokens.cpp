// SPDX-License-Identifier: Apache-2.0
#include "converter/vocabulary/choose_tokens.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "converter/convert_error.hpp"
#include "converter/export/tokenizer/byte_pair_arrays.hpp"
#include "converter/model/code_points.hpp"
#include "converter/vocabulary/scripts.hpp"
#include "runtime/format/byte_pair_format.hpp"

namespace embert::convert {
namespace {

const BpeSpec* bpe_of(const TokenizerSpec& spec) { return std::get_if<BpeSpec>(&spec.model); }

// [tokens] The text that each token stands for: the bytes of a BPE's symbol, a piece without the
// prefix of continuing pieces.
std::vector<std::string> token_texts(const TokenizerSpec& spec) {
  std::vector<std::string> texts = spec.tokens;
  if (const auto* wordpiece = std::get_if<WordPieceSpec>(&spec.model)) {
    for (std::string& text : texts) {
      if (text.starts_with(wordpiece->continuing_prefix)) {
        text.erase(0, wordpiece->continuing_prefix.size());
      }
    }
  } else if (const BpeSpec* bpe = bpe_of(spec)) {
    const std::vector<std::string> bytes = symbol_bytes(bpe->merges);
    for (std::size_t s = 0; s < bytes.size(); ++s) texts[bpe->symbol_ids[s]] = bytes[s];
  }
  return texts;
}

// The tokens that the model can make, in the tokenizer's own order: by score, by id, or by rank of
// the merge.
std::vector<std::uint32_t> rank_tokens(const TokenizerSpec& spec) {
  if (const BpeSpec* bpe = bpe_of(spec)) return bpe->symbol_ids;
  std::vector<std::uint32_t> ids;
  for (std::uint32_t id = 0; id < spec.tokens.size(); ++id) {
    if (spec.in_vocabulary[id]) ids.push_back(id);
  }
  if (const auto* unigram = std::get_if<UnigramSpec>(&spec.model)) {
    std::ranges::stable_sort(ids, std::ranges::greater(),
                             [&](std::uint32_t id) { return unigram->scores[id]; });
  }
  return ids;
}

// "<0x41>", the piece of a byte with byte fallback.
bool is_byte_piece(std::string_view token) {
  return token.size() == 6 && token.starts_with("<0x") && token.ends_with('>') &&
         token.find_first_not_of("0123456789ABCDEF", 3) == 5;
}

// Calls take(token, part) for each merge and each of its parts, the last merges first.
template <typename Take>
void for_each_part(const BpeSpec& bpe, const Take& take) {
  for (std::size_t i = bpe.merges.size(); i-- > 0;) {
    const std::uint32_t token = bpe.symbol_ids[kByteSymbols + i];
    for (const std::uint32_t part : bpe.merges[i]) take(token, bpe.symbol_ids[part]);
  }
}

// Special and added tokens, those of the templates, and the ids that the model needs.
std::vector<bool> special_tokens(const TokenizerSpec& spec,
                                 const std::vector<std::uint32_t>& needed) {
  std::vector<bool> kept(spec.tokens.size());
  for (const std::uint32_t id : needed) {
    if (id < kept.size()) kept[id] = true;
  }
  for (const AddedTokenSpec& token : spec.added_tokens) kept[token.id] = true;
  for (const auto& id : {spec.unk_id, spec.cls_id, spec.sep_id, spec.pad_id, spec.mask_id}) {
    if (id) kept[*id] = true;
  }
  for (const auto* pieces : {&spec.single, &spec.pair}) {
    for (const TemplatePieceSpec& piece : *pieces) {
      if (piece.kind == TemplatePieceSpec::Kind::kToken) kept[piece.token_id] = true;
    }
  }
  return kept;
}

// Adds what any text of kept scripts can be spelled with.
void keep_spelling(const TokenizerSpec& spec, const std::vector<bool>& in_scripts,
                   const std::vector<std::string>& texts, std::vector<bool>& kept) {
  if (const BpeSpec* bpe = bpe_of(spec)) {
    for (std::size_t byte = 0; byte < kByteSymbols; ++byte) kept[bpe->symbol_ids[byte]] = true;
    for_each_part(*bpe, [&](std::uint32_t token, std::uint32_t part) {
      if (kept[token]) kept[part] = true;
    });
    return;
  }
  const auto* unigram = std::get_if<UnigramSpec>(&spec.model);
  const bool has_bytes = unigram != nullptr && unigram->byte_fallback;
  for (std::size_t id = 0; id < texts.size(); ++id) {
    const bool single = in_scripts[id] && code_points(texts[id]).size() == 1;
    if (single || (has_bytes && is_byte_piece(texts[id]))) kept[id] = true;
  }
}

ScriptSet choose_scripts(const TokenChoice& choice, const std::vector<ScriptSet>& scripts,
                         const std::vector<bool>& special) {
  ScriptSet present;
  ScriptSet of_corpus;
  for (std::size_t id = 0; id < scripts.size(); ++id) {
    if (special[id]) continue;
    present |= scripts[id];
    if (!choice.counts.empty() && choice.counts[id] > 0) of_corpus |= scripts[id];
  }
  if (choice.scripts.empty()) return choice.counts.empty() ? present : of_corpus;
  for (const std::string& name : choice.scripts) {
    if ((scripts_named({name}) & ~present).any()) {
      throw ConvertError("--scripts: the vocabulary has no token with a character of " + name);
    }
  }
  return scripts_named(choice.scripts);
}

void require_size(const TokenizerSpec& spec, std::size_t size, std::size_t least) {
  const std::string found = "--vocabulary-size " + std::to_string(size) + ": ";
  if (size < least) {
    throw ConvertError(found + "at least " + std::to_string(least) +
                       " tokens must stay (special tokens, bytes, single characters of the kept "
                       "scripts); give more, or fewer --scripts");
  }
  if (size > spec.tokens.size()) {
    throw ConvertError(found + "the tokenizer has " + std::to_string(spec.tokens.size()) +
                       " tokens; give no more");
  }
}

}  // namespace

std::vector<bool> choose_tokens(const TokenizerSpec& spec, TokenChoice choice) {
  const std::vector<std::string> texts = token_texts(spec);
  std::vector<ScriptSet> scripts;
  for (const std::string& text : texts) scripts.push_back(scripts_of(text));
  std::vector<bool> kept = special_tokens(spec, choice.needed);
  const ScriptSet kept_scripts = choose_scripts(choice, scripts, kept);
  std::vector<bool> in_scripts;
  for (const ScriptSet& set : scripts) in_scripts.push_back((set & ~kept_scripts).none());
  keep_spelling(spec, in_scripts, texts, kept);
  const auto least = static_cast<std::size_t>(std::ranges::count(kept, true));
  if (choice.size) require_size(spec, *choice.size, least);

  const bool has_corpus = !choice.counts.empty();
  choice.counts.resize(spec.tokens.size());
  if (const BpeSpec* bpe = bpe_of(spec)) {
    // With a token its parts are used, so that no part is rarer or comes behind its token.
    for_each_part(*bpe, [&](std::uint32_t token, std::uint32_t part) {
      choice.counts[part] += choice.counts[token];
    });
  }
  std::vector<std::uint32_t> candidates;
  for (const std::uint32_t id : rank_tokens(spec)) {
    const bool used = choice.counts[id] > 0;
    const bool wanted = in_scripts[id] && (!has_corpus || choice.size);
    if (!kept[id] && (used || wanted)) candidates.push_back(id);
  }
  std::ranges::stable_sort(candidates, std::ranges::greater(),
                           [&](std::uint32_t id) { return choice.counts[id]; });
  const std::size_t room = choice.size ? *choice.size - least : candidates.size();
  for (std::size_t i = 0; i < std::min(room, candidates.size()); ++i) kept[candidates[i]] = true;
  return kept;
}

}  // namespace embert::convert
