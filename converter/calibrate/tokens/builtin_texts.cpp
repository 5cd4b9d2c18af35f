// SPDX-License-Identifier: Apache-2.0
#include "converter/calibrate/tokens/builtin_texts.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace embert::convert {

// Written by data/embed_text.cmake.
extern const char kCalibrationTextData[];
extern const std::size_t kCalibrationTextSize;

namespace {

constexpr std::size_t kCertificateStride = 7;

struct BuiltinTexts {
  std::vector<std::string_view> calibration, certificate;

  BuiltinTexts() {
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
  }
};

const BuiltinTexts& builtin_texts() {
  static const BuiltinTexts texts;
  return texts;
}

}  // namespace

std::span<const std::string_view> builtin_calibration_texts() {
  return builtin_texts().calibration;
}
std::span<const std::string_view> builtin_certificate_texts() {
  return builtin_texts().certificate;
}

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
