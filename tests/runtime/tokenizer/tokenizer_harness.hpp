// SPDX-License-Identifier: Apache-2.0
// What the tokenizer's tests share: sections in aligned memory, results as vectors, the reference
// vocabularies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "converter/export/write_tokenizer_section.hpp"
#include "converter/import/tokenizer/read_tokenizer.hpp"
#include "embert/embert_tokenizer.h"
#include "runtime/tokenizer/tokenizer.hpp"
#include "tests/support/small_tokenizer.hpp"

namespace embert::test {

/// A section at an address that is a multiple of 64, in an allocation that ends with it (for the
/// sanitizer).
class Section {
 public:
  explicit Section(const std::vector<std::uint8_t>& bytes);
  std::uint8_t* data() { return begin_; }
  const std::uint8_t* data() const { return begin_; }
  std::size_t size() const { return size_; }
  TokenizerStatus open(TokenizerView* view) const { return tokenizer_open(begin_, size_, view); }

 private:
  std::vector<std::uint8_t> storage_;
  std::uint8_t* begin_;
  std::size_t size_;
};

struct Tokens {
  TokenizerStatus status = TokenizerStatus::kOk;
  std::uint32_t windows = 0;
  std::vector<std::int32_t> ids, type_ids, word_ids, sequence_ids;
  std::vector<std::uint32_t> byte_offsets, char_offsets;
};

/// A section that is opened and lives as long as its view.
class TestTokenizer {
 public:
  explicit TestTokenizer(const convert::TokenizerSpec& spec);
  explicit TestTokenizer(const std::vector<std::uint8_t>& section);

  const TokenizerView& view() const { return view_; }
  const Section& section() const { return section_; }
  Tokens encode(std::string_view text, const embert_tokenize_options& options,
                const std::optional<std::string>& pair = std::nullopt) const;
  /// Without special tokens and limits. The vector is overwritten.
  void ids(std::string_view text, std::vector<std::int32_t>* ids) const;
  /// The strings of the tokens, joined with a blank, without special tokens.
  std::string strings(std::string_view text) const;
  std::string token(std::uint32_t id) const;

 private:
  Section section_;
  TokenizerView view_ = {};
};

inline constexpr embert_tokenize_options kPlain = {};
inline constexpr embert_tokenize_options kWithSpecials = {.add_special_tokens = 1};

inline embert_text text_of(std::string_view text) { return {text.data(), text.size(), nullptr, 0}; }

/// The 15 settings "vocabulary:lower|keep:unset|true|false" of the reference data.
const std::vector<std::string>& reference_settings();
/// One of them, built from the vocabularies of the shared folder; kept for the next caller.
const TestTokenizer& reference_tokenizer(const std::string& setting);

/// The folder of optional data, and whether it is there.
std::string shared_dir();
bool has_shared_dir();
std::string read_file(const std::string& path);

/// Whether byte offsets stand for the same characters as character offsets.
bool has_same_offsets(const std::string& text, const Tokens& tokens);

/// zlib's CRC-32, continued from `crc` (0 to begin).
std::uint32_t crc32(std::uint32_t crc, const void* data, std::size_t bytes);
/// Goes on over a number of ids and the ids, as little-endian u32.
std::uint32_t crc32_of_ids(std::uint32_t crc, const std::vector<std::int32_t>& ids);

}  // namespace embert::test

#define EMBERT_NEED_SHARED_DIR()       \
  if (!embert::test::has_shared_dir()) \
  GTEST_SKIP() << "SKIPPED: no folder " << embert::test::shared_dir() << " (set EMBERT_SHARED_DIR)"
