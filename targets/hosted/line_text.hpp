// SPDX-License-Identifier: Apache-2.0
// Values as one line of text or JSON, for messages and results.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace embert::hosted {

/// Keys keep the order in which they are set.
using Json = nlohmann::ordered_json;

/// Deeper JSON is refused, as the library that reads and writes it calls itself for each level, and
/// so are objects of more keys, as it compares each key with all before it.
inline constexpr int kMostJsonLevels = 64;
inline constexpr int kMostJsonKeys = 1024;
inline constexpr const char* kJsonLimits = "of at most 64 levels and 1024 keys an object";

/// Returns the value; a discarded one if the text is not JSON or goes beyond these limits.
Json parse_json(std::string_view text);
/// What is wrong with a text that is no JSON, to be put behind a message; empty if it is JSON.
std::string json_fault(std::string_view text);

/// Returns the value without line breaks. Bytes that are not UTF-8 become U+FFFD, and all control
/// characters (C0, DEL, C1) are escaped.
std::string json_line(const Json& value);

/// Returns the value with line breaks and one at its end, for a file. Bytes as in json_line().
std::string pretty_json(const Json& value);

/// Makes `text` safe for one line and one column of a table: control characters (C0, DEL, C1),
/// which a terminal may obey, and bytes that are not well-formed UTF-8 become '?'.
std::string one_line(std::string_view text);

/// Formats a path for the start of a message: on one line, and as "" if it is empty.
std::string quoted_path(const std::string& path);

/// Formats a number as printf("%.*f") does.
std::string fixed(double value, int decimals);

/// Formats 1234567 as "1,234,567".
std::string grouped(unsigned long long value);

}  // namespace embert::hosted
