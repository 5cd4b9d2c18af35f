// SPDX-License-Identifier: Apache-2.0
// Contract of CRC-32C, the blob's checksum (Castagnoli polynomial 0x1EDC6F41, reflected; RFC 3720,
// section 12.1).
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace embert {

/// Continues crc over size bytes of data, of any alignment; null where size is 0. A checksum starts
/// with crc = 0: crc32c(0, "123456789", 9) = 0xE3069283.
using Crc32cFn = uint32_t (*)(uint32_t crc, const uint8_t* data, size_t size);

}  // namespace embert
