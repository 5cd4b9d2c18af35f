// SPDX-License-Identifier: Apache-2.0
#include "converter/import/tokenizer/base64.hpp"

#include "converter/convert_error.hpp"

namespace embert::convert {
namespace {

// The six bits of a character, -1 for others.
int digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

}  // namespace

std::vector<std::uint8_t> decode_base64(std::string_view text, const std::string& where) {
  std::size_t length = text.size();
  while (length > 0 && text.size() - length < 2 && text[length - 1] == '=') --length;
  bool ok = text.size() % 4 == 0 && length % 4 != 1;
  std::vector<std::uint8_t> out;
  out.reserve(length * 3 / 4);
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < length && ok; ++i) {
    const int value = digit(text[i]);
    ok = value >= 0;
    bits = (bits << 6) | static_cast<std::uint32_t>(value & 63);
    if (i % 4 != 0) out.push_back(static_cast<std::uint8_t>(bits >> (6 - i % 4 * 2)));
  }
  if (!ok) throw ConvertError(where + ": is no base64 text");
  return out;
}

}  // namespace embert::convert
