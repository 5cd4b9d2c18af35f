// SPDX-License-Identifier: Apache-2.0
// Integers as little-endian bytes on any machine.
#pragma once

#include <stdint.h>

namespace embert::device {

inline void put_u16(uint8_t* at, uint32_t x) {
  at[0] = static_cast<uint8_t>(x);
  at[1] = static_cast<uint8_t>(x >> 8);
}
inline void put_u32(uint8_t* at, uint32_t x) {
  put_u16(at, x);
  put_u16(at + 2, x >> 16);
}
inline void put_u64(uint8_t* at, uint64_t x) {
  put_u32(at, static_cast<uint32_t>(x));
  put_u32(at + 4, static_cast<uint32_t>(x >> 32));
}
inline uint32_t get_u16(const uint8_t* at) { return at[0] | uint32_t{at[1]} << 8; }
inline uint32_t get_u32(const uint8_t* at) { return get_u16(at) | get_u16(at + 2) << 16; }
inline uint64_t get_u64(const uint8_t* at) {
  return get_u32(at) | static_cast<uint64_t>(get_u32(at + 4)) << 32;
}

}  // namespace embert::device
