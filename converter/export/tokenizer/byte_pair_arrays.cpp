// SPDX-License-Identifier: Apache-2.0
#include "converter/export/tokenizer/byte_pair_arrays.hpp"

#include <algorithm>
#include <utility>

#include "converter/convert_error.hpp"
#include "converter/export/tokenizer/double_array.hpp"
#include "converter/export/tokenizer/model_arrays.hpp"
#include "runtime/format/byte_pair_format.hpp"
#include "runtime/format/tokenizer_format.hpp"

namespace embert::convert {
namespace {

// Fills a table of `slot_count` slots; returns the most slots that a look-up reads, the empty one
// behind a run included, or 0 if it would be more than kMaxPairProbes.
std::uint32_t fill_slots(const std::vector<SymbolPair>& merges, std::uint32_t slot_count,
                         std::vector<std::uint32_t>* slots) {
  slots->assign(slot_count, 0);
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const std::uint32_t hash = hash_pair(merges[i][0], merges[i][1]);
    std::uint32_t at = pair_slot(hash, slot_count);
    while ((*slots)[at] != 0) at = at + 1 == slot_count ? 0 : at + 1;
    (*slots)[at] = (kByteSymbols + static_cast<std::uint32_t>(i)) | pair_fingerprint(hash)
                                                                        << kPairSymbolBits;
  }
  std::uint32_t longest = 0;
  std::uint32_t run = 0;
  for (std::uint32_t i = 0; i < 2 * slot_count && longest <= kMaxPairProbes; ++i) {
    run = (*slots)[i % slot_count] == 0 ? 0 : run + 1;
    longest = std::max(longest, run + 1);
  }
  return longest <= kMaxPairProbes ? longest : 0;
}

}  // namespace

std::vector<std::string> symbol_bytes(const std::vector<SymbolPair>& merges) {
  std::vector<std::string> bytes;
  for (std::uint32_t byte = 0; byte < kByteSymbols; ++byte) {
    bytes.emplace_back(1, static_cast<char>(byte));
  }
  for (const SymbolPair& pair : merges) bytes.push_back(bytes[pair[0]] + bytes[pair[1]]);
  return bytes;
}

BytePairArrays make_byte_pair_arrays(const std::vector<SymbolPair>& merges) {
  BytePairArrays arrays;
  // Half full or less (two thirds full is 7 % slower on Chinese text), and no look-up longer than
  // kMaxPairProbes.
  std::size_t slot_count = 2 * merges.size() + 1;
  while (arrays.pair_probes == 0) {
    if (slot_count > kMaxPairSlots) {
      throw ConvertError("tokenizer: " + std::to_string(merges.size()) +
                         " merges need a table of more than " + std::to_string(kMaxPairSlots) +
                         " slots, the most that is supported");
    }
    arrays.pair_probes =
        fill_slots(merges, static_cast<std::uint32_t>(slot_count), &arrays.pair_slots);
    slot_count += slot_count / 8 + 1;
  }
  std::vector<DoubleArray::Entry> entries;
  const std::vector<std::string> bytes = symbol_bytes(merges);
  for (std::size_t symbol = 0; symbol < bytes.size(); ++symbol) {
    if (bytes[symbol].size() > kMaxTokenBytes) {
      throw ConvertError("tokenizer: token \"" + printable(bytes[symbol], 40) + "\" has " +
                         std::to_string(bytes[symbol].size()) + " bytes, at most " +
                         std::to_string(kMaxTokenBytes) + " are supported");
    }
    entries.push_back({bytes[symbol], static_cast<std::uint32_t>(symbol)});
  }
  DoubleArray trie;
  arrays.root = trie.add(std::move(entries), false);
  arrays.units = trie.finish();
  for (const SymbolPair& pair : merges) {
    arrays.parts.insert(arrays.parts.end(), pair.begin(), pair.end());
  }
  return arrays;
}

std::vector<std::uint32_t> append_bpe_part(const BpeSpec& bpe, TokenizerHeader* header,
                                           SectionBytes* part) {
  const BytePairArrays arrays = make_byte_pair_arrays(bpe.merges);
  header->word_root = arrays.root;
  BytePairHeader own = {};
  own.flags = (bpe.compose ? std::uint32_t{kBytePairCompose} : 0u) |
              (bpe.prefix_space ? std::uint32_t{kBytePairPrefixSpace} : 0u) |
              (bpe.split ? std::uint32_t{kBytePairSplit} : 0u);
  own.merge_count = static_cast<std::uint32_t>(bpe.merges.size());
  own.pair_slot_count = static_cast<std::uint32_t>(arrays.pair_slots.size());
  own.pair_probes = arrays.pair_probes;
  part->append(std::vector<BytePairHeader>{own});
  part->append(arrays.parts);
  part->append(arrays.pair_slots);
  part->append(bpe.symbol_ids);
  return arrays.units;
}

// NFC leaves ASCII as it is.
std::string normalize_bpe(const AddedTokenSpec& token, const BpeSpec& spec) {
  if (spec.compose) require_ascii(token);
  return token.content;
}

}  // namespace embert::convert
