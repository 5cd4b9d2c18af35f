// SPDX-License-Identifier: Apache-2.0
// The JSON of a request, within the limits.
#pragma once

#include <string>
#include <string_view>

#include "targets/hosted/line_text.hpp"
#include "targets/serve/limits.hpp"

namespace embert::serve {

/// Returns the object without its fields that are null. Takes the memory of its numbers from
/// RequestMemory::current(). Throws RequestError: 400 for what is no JSON (RFC 8259) or not UTF-8,
/// has a NUL, a number out of range, or more levels or keys than any request needs; 413 for more
/// texts than the limit.
hosted::Json checked_body(std::string_view body, const Limits& limits);

}  // namespace embert::serve
