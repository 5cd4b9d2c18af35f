// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/fit/byte_size.hpp"

#include <cctype>
#include <cstddef>
#include <string_view>

namespace embert::cli {
namespace {

constexpr uint64_t kMostBytes = uint64_t{4} << 30;
constexpr size_t kMostDigits = 10;  // of the whole part and of the fraction: 64 bits suffice

/// The bytes of "", "k", "mb", "gib"; 0 for anything else.
uint64_t unit_of(std::string_view letters) {
  if (letters.empty()) return 1;
  std::string unit;
  for (const char letter : letters) {
    unit += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  const std::string_view rest = std::string_view(unit).substr(1);
  if (!rest.empty() && rest != "b" && rest != "ib") return 0;
  switch (unit[0]) {
    case 'k':
      return uint64_t{1} << 10;
    case 'm':
      return uint64_t{1} << 20;
    case 'g':
      return uint64_t{1} << 30;
    case 'b':
      return rest.empty() ? 1 : 0;
    default:
      return 0;
  }
}

/// The digits at the beginning of `text`, which it loses.
std::string_view take_digits(std::string_view& text) {
  size_t count = 0;
  while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

}  // namespace

std::optional<uint64_t> byte_size(const std::string& text) {
  std::string_view left = text;
  const std::string_view whole = take_digits(left);
  std::string_view fraction;
  if (!left.empty() && left[0] == '.') {
    left.remove_prefix(1);
    fraction = take_digits(left);
    if (fraction.empty()) return std::nullopt;
  }
  const uint64_t unit = unit_of(left);
  if (whole.empty() || whole.size() > kMostDigits || fraction.size() > kMostDigits || unit == 0) {
    return std::nullopt;
  }
  uint64_t bytes = 0, numerator = 0, denominator = 1;
  for (const char digit : whole) bytes = bytes * 10 + static_cast<uint64_t>(digit - '0');
  for (const char digit : fraction) {
    numerator = numerator * 10 + static_cast<uint64_t>(digit - '0');
    denominator *= 10;
  }
  if (bytes > kMostBytes / unit) return std::nullopt;
  bytes = bytes * unit + numerator * unit / denominator;
  if (bytes == 0 || bytes > kMostBytes) return std::nullopt;
  return bytes;
}

}  // namespace embert::cli
