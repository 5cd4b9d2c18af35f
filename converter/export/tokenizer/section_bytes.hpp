// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/format/tokenizer_format.hpp"

namespace embert::convert {

/// Arrays one after another, each at a multiple of kTokenizerAlignment.
class SectionBytes {
 public:
  template <typename T>
  void append(const std::vector<T>& values) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + values.size() * sizeof(T), 0);
    if (!values.empty()) std::memcpy(bytes_.data() + at, values.data(), values.size() * sizeof(T));
    bytes_.resize(
        (bytes_.size() + kTokenizerAlignment - 1) / kTokenizerAlignment * kTokenizerAlignment, 0);
  }

  std::vector<std::uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace embert::convert
