// SPDX-License-Identifier: Apache-2.0
// CRC-32C with the instruction that ARMv8.1 demands, 8 bytes at a time.
#if !defined(__ARM_FEATURE_CRC32)
#error "this file needs the flags of dotprod (kernels/sources.cmake)"
#endif
#include <arm_acle.h>
#include <string.h>

#include "kernels/variants.hpp"

namespace embert {

uint32_t crc32c_dotprod(uint32_t crc, const uint8_t* data, size_t size) {
  uint32_t r = ~crc;
  for (; size >= 8; data += 8, size -= 8) {
    uint64_t x;
    memcpy(&x, data, 8);
    r = __crc32cd(r, x);
  }
  for (; size > 0; ++data, --size) r = __crc32cb(r, *data);
  return ~r;
}

}  // namespace embert
