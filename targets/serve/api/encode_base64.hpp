// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648, section 4).
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace embert::serve {

std::string base64(std::span<const uint8_t> bytes);

}  // namespace embert::serve
