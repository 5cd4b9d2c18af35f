// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace embert::convert {

/// The bytes of RFC 4648 text. Throws ConvertError, whose message begins with `where`.
std::vector<std::uint8_t> decode_base64(std::string_view text, const std::string& where);

}  // namespace embert::convert
