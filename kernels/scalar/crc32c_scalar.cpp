// SPDX-License-Identifier: Apache-2.0
#include "kernels/variants.hpp"

namespace embert {
namespace {

// The remainder of each nibble: a table of 64 bytes, small enough for a microcontroller.
struct NibbleTable {
  uint32_t value[16];
  constexpr NibbleTable() : value() {
    for (uint32_t i = 0; i < 16; ++i) {
      uint32_t r = i;
      for (int bit = 0; bit < 4; ++bit) r = (r >> 1) ^ ((r & 1) != 0 ? 0x82F63B78u : 0u);
      value[i] = r;
    }
  }
};
constexpr NibbleTable kTable;

}  // namespace

uint32_t crc32c_scalar(uint32_t crc, const uint8_t* data, size_t size) {
  uint32_t r = ~crc;
  for (size_t i = 0; i < size; ++i) {
    r ^= data[i];
    r = (r >> 4) ^ kTable.value[r & 15];
    r = (r >> 4) ^ kTable.value[r & 15];
  }
  return ~r;
}

}  // namespace embert
