// SPDX-License-Identifier: Apache-2.0
// Sizes of memories as people write them: 2M, 512K, 1.5M, 1474687.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace embert::cli {

/// Reads a size of 1 byte to 4 GB: digits, perhaps a fraction, then K, M or G (1,024 bytes and so
/// on), perhaps with B or iB behind it; case does not count. Parts of a byte are dropped. Nothing
/// if `text` is no such size.
std::optional<uint64_t> byte_size(const std::string& text);

}  // namespace embert::cli
