// SPDX-License-Identifier: Apache-2.0
// The arrays of a byte-pair encoding in the tokenizer section: parts, trie and hash table
// (runtime/format/TOKENIZER_FORMAT.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace embert::convert {

/// The two symbols that a merge joins: 0..255 are the bytes, 256 + i is what merge i makes.
using SymbolPair = std::array<std::uint32_t, 2>;

struct BytePairArrays {
  std::vector<std::uint32_t> units;  ///< trie over the bytes of all symbols
  std::uint32_t root = 0;
  std::vector<std::uint32_t> parts;       ///< [merges][2]
  std::vector<std::uint32_t> pair_slots;  ///< hash table of the merges by their parts
  std::uint32_t pair_probes = 0;          ///< slots that a look-up reads at most
};

/// The bytes of each symbol. Merges are by rank, and a merge joins symbols before its own.
std::vector<std::string> symbol_bytes(const std::vector<SymbolPair>& merges);

/// `merges` by rank, of which each must be what its own bytes merge to. Throws ConvertError where a
/// symbol has more than 255 bytes.
BytePairArrays make_byte_pair_arrays(const std::vector<SymbolPair>& merges);

}  // namespace embert::convert
