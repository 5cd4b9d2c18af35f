// SPDX-License-Identifier: Apache-2.0
// The section's parts in order: header, tries, added tokens, strings.
#include "converter/export/write_tokenizer_section.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <string>

#include "converter/convert_error.hpp"
#include "converter/export/tokenizer/double_array.hpp"
#include "converter/export/tokenizer/model_arrays.hpp"
#include "converter/export/tokenizer/section_bytes.hpp"
#include "runtime/format/tokenizer_format.hpp"

namespace embert::convert {
namespace {

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

struct StringTable {
  std::vector<std::uint32_t> blocks;
  std::vector<std::uint16_t> starts;
  std::vector<std::uint8_t> bytes;
};

StringTable make_strings(const std::vector<std::string>& tokens, TokenizerModel model) {
  const std::uint32_t most = max_string_bytes(model);
  StringTable table;
  for (std::size_t id = 0; id <= tokens.size(); ++id) {
    if (id % kStringBlock == 0)
      table.blocks.push_back(static_cast<std::uint32_t>(table.bytes.size()));
    const std::size_t start = table.bytes.size() - table.blocks.back();
    if (start > UINT16_MAX) {
      throw ConvertError("tokenizer: the tokens from " +
                         std::to_string(id / kStringBlock * kStringBlock) + " to " +
                         std::to_string(id - 1) + " have " + std::to_string(start) +
                         " bytes, at most " + std::to_string(UINT16_MAX) + " can be stored");
    }
    table.starts.push_back(static_cast<std::uint16_t>(start));
    if (id == tokens.size()) break;
    if (tokens[id].size() > most) {
      throw ConvertError("tokenizer: token " + std::to_string(id) + " \"" +
                         printable(tokens[id], 40) + "\" has " + std::to_string(tokens[id].size()) +
                         " bytes, at most " + std::to_string(most) + " are supported");
    }
    table.bytes.insert(table.bytes.end(), tokens[id].begin(), tokens[id].end());
  }
  return table;
}

// The arrays of the tokenizer model: the trie of its vocabulary, and its own part of the section,
// which stands behind the arrays that all models have.
struct ModelArrays {
  std::vector<std::uint32_t> units;
  SectionBytes part;
};

ModelArrays make_model_arrays(const TokenizerSpec& spec, TokenizerHeader* header) {
  ModelArrays arrays;
  if (std::holds_alternative<BpeSpec>(spec.model)) {
    arrays.units = append_bpe_part(spec.bpe(), header, &arrays.part);
  } else if (std::holds_alternative<UnigramSpec>(spec.model)) {
    arrays.units = make_unigram_units(spec, header);
    append_unigram(spec, &arrays.part);
  } else {
    arrays.units = make_wordpiece_units(spec, header);
  }
  return arrays;
}

std::function<std::string(const AddedTokenSpec&)> normalizer_of(const TokenizerSpec& spec) {
  if (const auto* unigram = std::get_if<UnigramSpec>(&spec.model)) {
    return unigram_normalizer(*unigram);
  }
  return [&spec](const AddedTokenSpec& token) {
    return std::holds_alternative<BpeSpec>(spec.model)
               ? normalize_bpe(token, spec.bpe())
               : normalize_wordpiece(token, spec.wordpiece());
  };
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
  const auto normalize = normalizer_of(spec);
  std::set<std::string> seen[2];
  std::vector<DoubleArray::Entry> patterns[2];
  for (const AddedTokenSpec& token : tokens) {
    const int which = token.normalized ? 1 : 0;
    const std::string pattern = token.normalized ? normalize(token) : token.content;
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

void require_ascii(const AddedTokenSpec& token) {
  for (const char c : token.content) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      throw ConvertError("tokenizer: added token \"" + printable(token.content) +
                         "\" is \"normalized\" and not ASCII, which is not supported; set "
                         "\"normalized\" to false");
    }
  }
}

std::vector<std::uint8_t> write_tokenizer_section(const TokenizerSpec& spec) {
  if (spec.tokens.empty() || spec.tokens.size() > kMaxTokenizerTokens) {
    throw ConvertError("tokenizer: " + std::to_string(spec.tokens.size()) + " tokens, 1 to " +
                       std::to_string(kMaxTokenizerTokens) + " are supported");
  }
  TokenizerHeader header = {};
  header.magic = kTokenizerMagic;
  header.model = static_cast<std::uint32_t>(spec.model.index());
  header.version = header.model == 0 ? kTokenizerVersion : kTokenizerVersionOfModels;
  const StringTable strings = make_strings(spec.tokens, static_cast<TokenizerModel>(header.model));
  ModelArrays model = make_model_arrays(spec, &header);
  if (spec.trim_offsets && header.version == kTokenizerVersionOfModels) {
    header.flags |= kTokenizerTrimOffsets;
    if (spec.trim_keeps_prefix_space) header.flags |= kTokenizerTrimKeepsSpace;
  }
  std::vector<AddedTokenRecord> added;
  const std::vector<std::uint32_t> added_units = make_added_units(spec, &added, &header);
  header.token_count = static_cast<std::uint32_t>(spec.tokens.size());
  header.word_unit_count = static_cast<std::uint32_t>(model.units.size());
  header.added_unit_count = static_cast<std::uint32_t>(added_units.size());
  header.added_count = static_cast<std::uint32_t>(added.size());
  header.string_bytes = static_cast<std::uint32_t>(strings.bytes.size());
  header.max_tokens = spec.max_tokens.value_or(0);
  header.unk_id = spec.unk_id.value_or(kNoToken);
  header.cls_id = spec.cls_id.value_or(kNoToken);
  header.sep_id = spec.sep_id.value_or(kNoToken);
  header.pad_id = spec.pad_id.value_or(kNoToken);
  header.mask_id = spec.mask_id.value_or(kNoToken);
  header.single = make_template(spec.single);
  header.pair = make_template(spec.pair);

  SectionBytes section;
  section.append(std::vector<TokenizerHeader>{header});
  section.append(model.units);
  section.append(added_units);
  section.append(added);
  section.append(strings.blocks);
  section.append(strings.starts);
  section.append(strings.bytes);
  section.append(model.part.bytes());
  header.section_bytes = static_cast<std::uint32_t>(section.bytes().size());
  std::memcpy(section.bytes().data(), &header, sizeof(header));
  return std::move(section.bytes());
}

}  // namespace embert::convert
