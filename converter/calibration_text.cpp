// SPDX-License-Identifier: Apache-2.0
#include "converter/calibration_text.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace embert::convert {

// Made by embed_text.cmake.
extern const char kCalibrationTextData[];
extern const std::size_t kCalibrationTextSize;

namespace {

constexpr std::size_t kCertificateStride = 7;
// Late positions are seen in long texts only: articles, joined.
constexpr std::size_t kArticleBytes = 350;
constexpr std::size_t kJoinedTexts = 8, kArticlesJoined = 5;

struct Texts {
  std::vector<std::string_view> calibration, certificate;
  std::vector<std::string> joined;

  Texts() {
    std::string_view rest(kCalibrationTextData, kCalibrationTextSize);
    std::size_t number = 0;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.empty() || line.starts_with("## ")) continue;  // a heading
      ++number;
      (number % kCertificateStride == 0 ? certificate : calibration).push_back(line);
    }
    join_articles();
    calibration.insert(calibration.end(), joined.begin(), joined.end());
  }

  void join_articles() {
    std::size_t articles = 0;
    for (const std::string_view text : calibration) {
      if (text.size() < kArticleBytes || articles == kJoinedTexts * kArticlesJoined) continue;
      if (articles++ % kArticlesJoined == 0) {
        joined.emplace_back(text);
      } else {
        joined.back().append(" ").append(text);
      }
    }
  }
};

const Texts& texts() {
  static const Texts all;
  return all;
}

}  // namespace

std::span<const std::string_view> builtin_calibration_texts() { return texts().calibration; }
std::span<const std::string_view> builtin_certificate_texts() { return texts().certificate; }

double unknown_share(std::span<const std::int32_t> ids, std::span<const std::int32_t> lengths,
                     std::int32_t unknown_id) {
  std::size_t first = 0, tokens = 0, unknown = 0;
  for (const std::int32_t length : lengths) {
    const auto count = static_cast<std::size_t>(std::max(length, 0));
    if (first + count > ids.size()) break;
    if (count > 2) {
      const auto inner = ids.subspan(first + 1, count - 2);
      tokens += inner.size();
      unknown += static_cast<std::size_t>(std::count(inner.begin(), inner.end(), unknown_id));
    }
    first += count;
  }
  return tokens == 0 ? 0.0 : static_cast<double>(unknown) / static_cast<double>(tokens);
}

}  // namespace embert::convert
