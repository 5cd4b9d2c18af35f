// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4). The digest of a model file names the model anywhere, because the converter
// makes the same file on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace embert::hosted {

/// 64 hexadecimal digits, as sha256sum prints them.
std::string sha256(std::span<const uint8_t> bytes);

}  // namespace embert::hosted
