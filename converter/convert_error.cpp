// SPDX-License-Identifier: Apache-2.0
#include "converter/convert_error.hpp"

#include <cstdint>

namespace embert::convert {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  std::uint8_t least = 0x80, most = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) least = 0xA0;
    if (lead == 0xED) most = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) least = 0x90;
    if (lead == 0xF4) most = 0x8F;
  }
  if (length == 0 || text.size() < length) return 0;
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::size_t take = length == 0 ? 1 : length;
    if (out.size() + take > max_bytes) return out + "...";
    const auto lead = static_cast<std::uint8_t>(text[0]);
    // U+0080 to U+009F are control characters too: a terminal may obey them.
    const bool control = lead < 0x20 || lead == 0x7F ||
                         (lead == 0xC2 && length == 2 && static_cast<std::uint8_t>(text[1]) < 0xA0);
    if (length == 0 || control) {
      out += '?';
    } else {
      out.append(text.substr(0, take));
    }
    text.remove_prefix(take);
  }
  return out;
}

}  // namespace embert::convert
