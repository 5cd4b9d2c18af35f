// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace embert::convert {

/// The ids that stay where a vocabulary is pruned, counted anew in their old order.
class KeptIds {
 public:
  static constexpr std::uint32_t kPruned = UINT32_MAX;

  /// `kept`: for each old id whether it stays.
  explicit KeptIds(const std::vector<bool>& kept) {
    for (std::uint32_t id = 0; id < kept.size(); ++id) {
      new_ids_.push_back(kept[id] ? static_cast<std::uint32_t>(old_ids_.size()) : kPruned);
      if (kept[id]) old_ids_.push_back(id);
    }
  }

  std::size_t size() const { return old_ids_.size(); }
  std::size_t old_size() const { return new_ids_.size(); }
  const std::vector<std::uint32_t>& old_ids() const { return old_ids_; }  ///< by new id, rising
  std::uint32_t new_id(std::uint32_t old_id) const { return new_ids_[old_id]; }

  /// Removes the rows of pruned ids from a table [old_size(), any number of columns].
  template <typename T>
  void prune_rows(std::vector<T>& table) const {
    const std::size_t columns = table.size() / old_size();
    T* out = table.data();
    for (const std::uint32_t id : old_ids_) {
      const T* const row = table.data() + id * columns;
      for (std::size_t c = 0; c < columns; ++c) *out++ = row[c];
    }
    table.resize(size() * columns);
    table.shrink_to_fit();
  }

 private:
  std::vector<std::uint32_t> old_ids_, new_ids_;
};

}  // namespace embert::convert
