// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/usage/suggestion.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace embert::cli {
namespace {

std::string plain(const std::string& word) {
  std::string result;
  for (const char letter : word) {
    if (letter == '-' || letter == '_') continue;
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return result;
}

/// The optimal string alignment distance (Damerau 1964, without edits of swapped letters).
size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      const size_t changed = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, changed});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()];
}

}  // namespace

std::string nearest_word(const std::string& word, const std::vector<std::string>& known) {
  constexpr size_t kLongestTypo = 40;  // longer words are no typing errors
  const std::string typed = plain(word.substr(0, word.find('=')));
  if (typed.empty() || typed.size() > kLongestTypo) return "";
  std::string nearest;
  size_t fewest = 0;
  for (const std::string& candidate : known) {
    const std::string letters = plain(candidate);
    const size_t most = std::max<size_t>(1, letters.size() / 3);
    const bool begins = typed.size() >= 3 && letters.size() >= 3 &&
                        (letters.starts_with(typed) || typed.starts_with(letters));
    // A beginning alone, "--dim" for "--dimensions", is as good as the most edits.
    const size_t count = begins ? std::min(edits(typed, letters), most) : edits(typed, letters);
    if (count > most || (!nearest.empty() && count >= fewest)) continue;
    nearest = candidate;
    fewest = count;
  }
  return nearest;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string nearest = nearest_word(word, known);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

}  // namespace embert::cli
