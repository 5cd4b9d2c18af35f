// SPDX-License-Identifier: Apache-2.0
// Tokens and their ids while a tokenizer file is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "converter/import/json_file.hpp"

namespace embert::convert {

class TokenTable {
 public:
  /// `file` stands in messages.
  explicit TokenTable(std::string file) : file_(std::move(file)) {}

  /// Throws ConvertError where the id is out of range or taken, or the token has an id already.
  void add(const std::string& token, std::uint32_t id, bool in_vocabulary);
  void add(const std::string& token, const Json& id, bool in_vocabulary);

  std::optional<std::uint32_t> find(const std::string& token) const;
  /// The id in `value`, which must be that of a token; `where` stands in messages.
  std::uint32_t check_id(const Json& value, const std::string& where) const;
  /// Throws ConvertError where an id below the largest one has no token.
  void require_no_holes() const;

  const std::string& file() const { return file_; }
  const std::vector<std::string>& tokens() const { return tokens_; }
  const std::vector<bool>& in_vocabulary() const { return in_vocabulary_; }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::string file_;
  std::vector<std::string> tokens_;
  std::vector<bool> in_vocabulary_, taken_;
  std::unordered_map<std::string, std::uint32_t> ids_;
};

}  // namespace embert::convert
