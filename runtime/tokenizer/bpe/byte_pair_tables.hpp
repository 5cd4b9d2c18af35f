// SPDX-License-Identifier: Apache-2.0
// Look-ups in the tables of a byte-pair encoding (BPE; Sennrich, Haddow, Birch 2016, section 3.2)
// of a validated section. A symbol is a number: 0..255 are the bytes, 256 + i is what merge i
// makes. Merges are numbered by rank, so of two symbols the greater one is made later.
#ifndef EMBERT_RUNTIME_TOKENIZER_BPE_BYTE_PAIR_TABLES_HPP_
#define EMBERT_RUNTIME_TOKENIZER_BPE_BYTE_PAIR_TABLES_HPP_

#include <stdint.h>

#include "runtime/format/byte_pair_format.hpp"

namespace embert {

constexpr uint32_t kNoSymbol = 0xFFFFFFFF;

struct BytePairTables {
  const uint32_t* units;  // double-array trie over the bytes of all symbols
  uint32_t root;          // base of its root
  const uint32_t* parts;  // [merge_count][2]: the symbols that merge i joins, both below 256 + i
  const uint32_t* pair_slots;  // [pair_slot_count]: hash table of the merges by their parts
  uint32_t pair_slot_count;
  uint32_t pair_probes;  // slots that a look-up reads at most
};

/// The symbol that two neighbours merge into, or kNoSymbol.
inline uint32_t find_merge(const BytePairTables& tables, uint32_t left, uint32_t right) {
  const uint32_t hash = hash_pair(left, right);
  uint32_t at = pair_slot(hash, tables.pair_slot_count);
  for (uint32_t probe = 0; probe < tables.pair_probes; ++probe) {
    const uint32_t slot = tables.pair_slots[at];
    if (slot == 0) return kNoSymbol;
    if (slot >> kPairSymbolBits == pair_fingerprint(hash)) {
      const uint32_t symbol = slot & kPairSymbolMask;
      const uint32_t* const parts = tables.parts + 2 * (symbol - kByteSymbols);
      if (parts[0] == left && parts[1] == right) return symbol;
    }
    if (++at == tables.pair_slot_count) at = 0;
  }
  return kNoSymbol;
}

/// Whether the encoding of the bytes of `left` followed by those of `right` is these two symbols,
/// each of which must be the encoding of its own bytes.
///
/// The encoder merges by rank, so it makes the symbols inside both in the order of their numbers.
/// At each time two symbols meet at the boundary: one on the right spine of left's tree of merges,
/// one on the left spine of right's. Going back in time undoes the greater of the two. The pair is
/// broken if two that met had a merge of their own whose turn came before one of them was merged
/// inside its symbol. In the same turn the leftmost merge is first, which is the one inside
/// `left`, then the one across the boundary, then the one inside `right`.
inline bool are_neighbours(const BytePairTables& tables, uint32_t left, uint32_t right) {
  uint32_t left_merged = kNoSymbol;   // the symbol inside `left` that takes in what meets there
  uint32_t right_merged = kNoSymbol;  // the same inside `right`
  for (;;) {
    const uint32_t across = find_merge(tables, left, right);
    if (across < left_merged && across <= right_merged) return false;
    if (left > right && left >= kByteSymbols) {
      left_merged = left;
      left = tables.parts[2 * (left - kByteSymbols) + 1];
    } else if (right >= kByteSymbols) {
      right_merged = right;
      right = tables.parts[2 * (right - kByteSymbols)];
    } else {
      return true;
    }
  }
}

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_BPE_BYTE_PAIR_TABLES_HPP_
