// SPDX-License-Identifier: Apache-2.0
// Statuses and results of calls, to compare two runs of the same calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "embert/embert_status.h"

namespace embert::fuzz {

/// In the order of the calls.
class Record {
 public:
  /// Adds the status, and returns whether it is OK.
  bool ok(embert_status status) {
    add(&status, 1);
    return status == EMBERT_STATUS_OK;
  }
  template <typename T>
  void add(const T* values, std::size_t count) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values);
    bytes_.insert(bytes_.end(), bytes, bytes + count * sizeof(T));
  }
  template <typename T>
  void add(const std::vector<T>& values) {
    add(values.data(), values.size());
  }
  bool operator==(const Record&) const = default;

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace embert::fuzz
