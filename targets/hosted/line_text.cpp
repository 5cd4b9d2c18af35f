// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/line_text.hpp"

#include <array>
#include <cstdio>

#include "targets/hosted/json_events.hpp"

namespace embert::hosted {

/// Returns the bytes of the well-formed UTF-8 sequence (RFC 3629) at the start of `text`, which is
/// not empty; 0 if it starts with none.
static size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xF0 && lead < 0xF5 ? 4
                                                      : 0;
  if (length < 2) return length;
  if (text.size() < length) return 0;
  const unsigned least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < least || byte(1) > most) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

/// Whether levels and keys keep to their limits, as far as the text is JSON.
class LimitCheck : public JsonEvents {
 public:
  bool is_large() const { return is_large_; }

  bool start_object(size_t) { return begin(); }
  bool start_array(size_t) { return begin(); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool key(const std::string&) {
    is_large_ = ++keys_[level_] > kMostJsonKeys;
    return !is_large_;
  }

 private:
  bool begin() {
    is_large_ = level_ == kMostJsonLevels;
    if (!is_large_) keys_[++level_] = 0;
    return !is_large_;
  }
  bool end() {
    --level_;
    return true;
  }

  bool is_large_ = false;
  size_t level_ = 0;
  std::array<int, kMostJsonLevels + 1> keys_ = {};  // of the object that is open at each level
};

/// parse_json(), with an exception of the library where the text is no JSON, if `throws`.
static Json parse_limited(std::string_view text, bool throws) {
  LimitCheck check;
  Json::sax_parse(text, &check);
  if (check.is_large()) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, throws);
}

Json parse_json(std::string_view text) { return parse_limited(text, false); }

std::string json_fault(std::string_view text) {
  try {
    static_cast<void>(parse_limited(text, true));
  } catch (const Json::parse_error& error) {
    return ": byte " + std::to_string(error.byte) + " is wrong";
  } catch (const Json::out_of_range&) {
    return ": a number is out of range";
  }
  return "";
}

std::string one_line(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const auto lead = static_cast<unsigned char>(text[0]);
    const bool c1 = length == 2 && lead == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
    if (length == 0 || lead < 0x20 || lead == 0x7F || c1) {
      result += '?';
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

std::string quoted_path(const std::string& path) { return path.empty() ? "\"\"" : one_line(path); }

std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string grouped(unsigned long long value) {
  const std::string digits = std::to_string(value);
  std::string result;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) result += ',';
    result += digits[i];
  }
  return result;
}

/// The library escapes C0 alone; a terminal may also obey DEL and C1.
static std::string escaped_json(const Json& value, int indent) {
  const std::string json = value.dump(indent, ' ', false, Json::error_handler_t::replace);
  if (json.find_first_of("\x7F\xC2") == std::string::npos) return json;
  std::string result;
  result.reserve(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    // U+0080 is C2 80.
    const bool c1 = json[i] == '\xC2' && static_cast<unsigned char>(json[i + 1]) < 0xA0;
    if (c1) ++i;
    if (c1 || json[i] == '\x7F') {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u00%02x", static_cast<unsigned char>(json[i]));
      result += escape;
    } else {
      result += json[i];
    }
  }
  return result;
}

std::string json_line(const Json& value) { return escaped_json(value, -1); }

std::string pretty_json(const Json& value) { return escaped_json(value, 2) + "\n"; }

}  // namespace embert::hosted
