// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/tokenizer/corpora.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace embert::test {

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> pieces;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find(separator, begin);
    if (end == std::string::npos) end = text.size();
    pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

std::vector<std::string> corpus_lines(const std::string& text, const std::string& rule) {
  if (rule == "raw") return split_at(text, '\n');
  std::vector<std::string> lines;
  if (rule == "squad") {
    const nlohmann::json root = nlohmann::json::parse(text);
    for (const nlohmann::json& article : root["data"]) {
      for (const nlohmann::json& paragraph : article["paragraphs"]) {
        lines.push_back(paragraph["context"].get<std::string>());
        for (const nlohmann::json& question : paragraph["qas"])
          lines.push_back(question["question"].get<std::string>());
      }
    }
  } else if (rule == "clinc") {
    const nlohmann::json root = nlohmann::json::parse(text);  // keys come sorted by byte
    for (const auto& [key, list] : root.items()) {
      for (const nlohmann::json& item : list) lines.push_back(item[0].get<std::string>());
    }
  } else if (rule == "conll") {
    std::string sentence;
    std::vector<std::string> rows = split_at(text, '\n');
    rows.emplace_back();
    for (const std::string& row : rows) {
      if (row.find_first_not_of(" \t\r") == std::string::npos) {
        if (!sentence.empty()) lines.push_back(sentence);
        sentence.clear();
        continue;
      }
      if (!sentence.empty()) sentence += ' ';
      sentence += row.substr(0, row.find('\t'));
    }
  } else {
    ADD_FAILURE() << "unknown rule " << rule;
  }
  return lines;
}

}  // namespace embert::test
