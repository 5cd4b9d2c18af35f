// SPDX-License-Identifier: Apache-2.0
// The tokenizer of a Hugging Face folder, converted in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "converter/export/write_tokenizer_section.hpp"
#include "converter/import/tokenizer/read_tokenizer.hpp"
#include "runtime/tokenizer/tokenizer.hpp"

namespace embert::bench {

class FolderTokenizer {
 public:
  /// Throws std::exception where the folder has no tokenizer that embert converts.
  explicit FolderTokenizer(const char* folder) {
    std::vector<std::string> warnings;
    const auto spec = convert::read_tokenizer(folder, warnings);
    if (!spec) throw std::runtime_error(std::string(folder) + ": no tokenizer");
    const std::vector<std::uint8_t> bytes = convert::write_tokenizer_section(*spec);
    section_bytes_ = bytes.size();
    storage_.resize(bytes.size() + kAlignment);
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
    std::uint8_t* const section = storage_.data() + (kAlignment - address % kAlignment);
    std::ranges::copy(bytes, section);
    if (tokenizer_open(section, bytes.size(), &view_) != TokenizerStatus::kOk) {
      throw std::runtime_error(std::string(folder) + ": the tokenizer's section was refused");
    }
  }

  const TokenizerView& view() const { return view_; }
  std::size_t section_bytes() const { return section_bytes_; }

 private:
  static constexpr std::size_t kAlignment = 64;
  std::vector<std::uint8_t> storage_;  // [section_bytes_ + kAlignment]
  std::size_t section_bytes_ = 0;
  TokenizerView view_ = {};
};

}  // namespace embert::bench
