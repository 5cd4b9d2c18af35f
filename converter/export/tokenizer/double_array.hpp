// SPDX-License-Identifier: Apache-2.0
// Builds the double-array tries of the tokenizer section (Aoe 1989;
// runtime/format/TOKENIZER_FORMAT.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace embert::convert {

/// Several tries in one array of units.
class DoubleArray {
 public:
  struct Entry {
    std::string key;  ///< not empty
    std::uint32_t value;
  };

  /// Adds a trie of distinct keys and returns the base of its root. With `cut_tails` a leaf stands
  /// for the whole rest of its key, and the reader compares that rest with the token's string.
  std::uint32_t add(std::vector<Entry> entries, bool cut_tails);

  /// All units; each base has room for its 257 units. Throws ConvertError if there are too many.
  std::vector<std::uint32_t> finish() const;

 private:
  // Sorted entries with one prefix of `depth` bytes.
  std::uint32_t add_node(std::span<const Entry> entries, std::size_t depth, bool cut_tails);
  std::uint32_t find_base(const std::vector<std::uint8_t>& labels, bool has_value);
  void grow(std::size_t units);
  void take(std::size_t unit);
  std::size_t free_from(std::size_t unit);

  static constexpr std::size_t kSizes = 8;

  std::vector<std::uint32_t> units_;
  std::vector<std::uint32_t> next_free_;  ///< by unit: itself where free, else a later unit to ask
  std::vector<bool> base_used_;  ///< by base: two nodes with one base would share their children
  /// By number of children: where the search for a base starts; earlier bases did not fit.
  std::size_t search_from_[kSizes] = {};
  std::size_t last_base_ = 0;
};

}  // namespace embert::convert
