// SPDX-License-Identifier: Apache-2.0
// Builds the double-array tries of the tokenizer section (runtime/format/TOKENIZER_FORMAT.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace embert::convert {

/// Several tries in one array of units.
class DoubleArray {
 public:
  struct Entry {
    std::string key;  // not empty
    std::uint32_t value;
  };

  /// Adds a trie of distinct keys and returns its root's base. With `cut_tails` a leaf stands for
  /// the whole rest of its key, which the reader compares with a string of its own.
  std::uint32_t add(std::vector<Entry> entries, bool cut_tails);

  /// All units; every base leaves room for its 257 units. Throws ConvertError if there are too
  /// many.
  std::vector<std::uint32_t> finish() const;

 private:
  using Entries = std::vector<Entry>;

  std::uint32_t add_node(const Entries& entries, std::size_t begin, std::size_t end,
                         std::size_t depth, bool cut_tails);
  std::uint32_t find_base(const std::vector<std::uint8_t>& labels, bool has_value);
  void grow(std::size_t units);
  void take(std::size_t unit);
  std::size_t free_from(std::size_t unit);

  static constexpr std::size_t kSizes = 8;

  std::vector<std::uint32_t> units_;
  std::vector<std::uint32_t> next_free_;  ///< by unit: itself, or a later one to ask
  std::vector<bool> base_used_;  ///< by base: two nodes with one base would share their children
  std::size_t search_from_[kSizes] = {};  ///< by number of children: nothing that fits lies before
  std::size_t last_base_ = 0;
};

}  // namespace embert::convert
