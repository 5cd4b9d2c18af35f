// SPDX-License-Identifier: Apache-2.0
// The tokenizers that a program runs texts through.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/tokenizer/tokenizer.hpp"
#include "tests/fuzz/support/check_text.hpp"

namespace embert::fuzz {

class Tokenizers {
 public:
  /// Those of `documents`, and those of these folders of shared/reference/tokenizer_families where
  /// they are there.
  Tokenizers(const std::vector<nlohmann::json>& documents,
             const std::vector<std::string>& reference_folders);
  ~Tokenizers();

  /// Runs check_text with the tokenizer that the call names.
  void check(const TextCall& call) const;

 private:
  struct Tokenizer;
  std::vector<std::unique_ptr<Tokenizer>> tokenizers_;
};

}  // namespace embert::fuzz
