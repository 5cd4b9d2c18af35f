// SPDX-License-Identifier: Apache-2.0
// The one exception of the converter, and the helper that keeps text out of files printable in it.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace embert::convert {

/// Bad input. what() is one line: file, tensor or field, what was expected, what was found, and
/// what to do.
struct ConvertError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Bytes of the well-formed UTF-8 sequence that `text` (not empty) begins with, 0 when there is
/// none (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t utf8_length(std::string_view text);
/// Whether all of `text` is well-formed UTF-8.
bool is_utf8(std::string_view text);

/// `text` as it may stand in a message: control characters and bytes that are not part of
/// well-formed UTF-8 become '?', and more than `max_bytes` bytes are cut off and replaced by "...".
std::string printable(std::string_view text, std::size_t max_bytes = 120);

}  // namespace embert::convert
