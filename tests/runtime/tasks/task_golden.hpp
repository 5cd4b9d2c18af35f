// SPDX-License-Identifier: Apache-2.0
// The pipelines' golden files, the tokenizer they were made with, and how their scores are
// compared.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tests/runtime/tasks/task_numbers.hpp"
#include "tests/runtime/tokenizer/tokenizer_harness.hpp"

namespace embert::test {

using Json = nlohmann::json;

inline Json read_task(const std::string& name) {
  return Json::parse(read_file(shared_dir() + "/reference/decode/" + name + ".json"));
}

inline const TestTokenizer& task_tokenizer() { return reference_tokenizer("uncased:lower:unset"); }

/// Logits are rounded to 2^-20, the reference computes in float32, and a score is stored in 2^-30.
inline constexpr double kScoreTolerance = 1e-5;  // relative
inline void expect_score(embert_q30 score, double expected) {
  EXPECT_NEAR(real(score), expected, expected * kScoreTolerance + 1e-9);
}

/// Code points begin..end of UTF-8 text.
inline std::string char_slice(std::string_view text, std::size_t begin, std::size_t end) {
  std::string result;
  std::size_t chars = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++chars;
    if (chars > begin && chars <= end) result += c;
  }
  return result;
}

}  // namespace embert::test
