// SPDX-License-Identifier: Apache-2.0
#include "converter/calibrate/tokens/builtin_texts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/support/test_corpora.hpp"

namespace embert::convert {
namespace {

using test::Corpus;

/// Letters and digits in lower case, bytes above ASCII as they are, one space between words.
std::string normalised(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || std::isalnum(byte) != 0) {
      result.push_back(static_cast<char>(std::tolower(byte)));
    } else if (!result.empty() && result.back() != ' ') {
      result.push_back(' ');
    }
  }
  if (!result.empty() && result.back() == ' ') result.pop_back();
  // Nothing is left of "..." or ":-)": such texts are compared unchanged.
  return result.empty() ? std::string(text) : result;
}

std::vector<std::string_view> all_texts() {
  std::vector<std::string_view> all;
  for (const auto texts : {builtin_calibration_texts(), builtin_certificate_texts()}) {
    all.insert(all.end(), texts.begin(), texts.end());
  }
  return all;
}

TEST(CalibrationText, CountsAreDocumented) {
  EXPECT_EQ(builtin_calibration_texts().size(), 384u);
  EXPECT_EQ(builtin_certificate_texts().size(), 64u);
}

TEST(CalibrationText, LinesAreClean) {
  for (const std::string_view text : all_texts()) {
    ASSERT_FALSE(text.empty());
    EXPECT_NE(text.front(), ' ') << text;
    EXPECT_NE(text.back(), ' ') << text;
    for (const char c : text) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << text;
  }
}

TEST(CalibrationText, NoTextTwice) {
  std::set<std::string> seen;
  for (const std::string_view text : all_texts()) {
    EXPECT_TRUE(seen.insert(std::string(text)).second) << text;
  }
}

TEST(CalibrationText, ManyShortAndManyLong) {
  const auto texts = builtin_calibration_texts();
  const auto words = [](std::string_view text) {
    return 1 + std::count(text.begin(), text.end(), ' ');
  };
  const auto is_short = [&](std::string_view text) { return words(text) <= 6; };
  const auto is_long = [&](std::string_view text) { return words(text) >= 70; };
  EXPECT_GE(std::count_if(texts.begin(), texts.end(), is_short), 64);
  EXPECT_GE(std::count_if(texts.begin(), texts.end(), is_long), 48);
}

TEST(CalibrationText, DisjointFromTheTestTexts) {
  const std::filesystem::path shared = EMBERT_SHARED_DIR;
  for (const Corpus corpus : test::kCorpora) {
    if (!test::corpus_present(shared, corpus)) {
      GTEST_SKIP() << "NOT TESTED: no " << test::corpus_name(corpus) << " below " << shared;
    }
  }
  std::set<std::string> test_texts;
  for (const Corpus corpus : test::kCorpora) {
    const std::vector<std::string> records = test::read_corpus(shared, corpus);
    EXPECT_GT(records.size(), 1000u) << test::corpus_name(corpus);
    for (const std::string& text : records) test_texts.insert(normalised(text));
  }
  // Lists with the text after the first tab.
  for (const char* name : {"models/tiny-intent/test.tsv", "models/tiny-embed/test.tsv"}) {
    std::ifstream in(shared / name);
    if (!in) GTEST_SKIP() << "NOT TESTED: no " << name << " below " << shared;
    for (std::string line; std::getline(in, line);) {
      const std::size_t tab = line.find('\t');
      if (tab == std::string::npos) continue;
      test_texts.insert(normalised(line.substr(tab + 1, line.find('\t', tab + 1) - tab - 1)));
    }
  }
  ASSERT_GT(test_texts.size(), 15000u);
  for (const std::string_view text : all_texts()) {
    EXPECT_FALSE(test_texts.contains(normalised(text))) << text;
  }
}

TEST(CalibrationText, UnknownShareLeavesOutSpecialTokens) {
  const std::vector<std::int32_t> ids = {2, 1, 5, 3, 2, 1, 1, 3, 2, 3};
  const std::vector<std::int32_t> lengths = {4, 4, 2};
  EXPECT_DOUBLE_EQ(unknown_share(ids, lengths, 1), 0.75);
  EXPECT_DOUBLE_EQ(unknown_share(ids, lengths, 9), 0.0);
  EXPECT_DOUBLE_EQ(unknown_share({}, {}, 1), 0.0);
}

}  // namespace
}  // namespace embert::convert
