// SPDX-License-Identifier: Apache-2.0
// The converter's only exception, and the helpers that make text from files printable in messages.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace embert::convert {

/// Bad input. what() is one line that names the file, the tensor or field, the expected and the
/// found value, and the remedy.
struct ConvertError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Length in bytes of the well-formed UTF-8 sequence at the start of `text` (not empty), 0 where
/// there is none (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t utf8_length(std::string_view text);
/// Whether all of `text` is well-formed UTF-8.
bool is_utf8(std::string_view text);

/// `text` for a message: control characters and bytes that are not well-formed UTF-8 become '?',
/// and text beyond `max_bytes` bytes is replaced by "...".
std::string printable(std::string_view text, std::size_t max_bytes = 120);

}  // namespace embert::convert
