// SPDX-License-Identifier: Apache-2.0
// Checks of the records that sections and header share. FORMAT.md has the rules.
#pragma once

#include <string.h>

#include "runtime/format/blob_format.hpp"

namespace embert {

inline bool in_range(uint32_t x, uint32_t lowest, uint32_t highest) {
  return x >= lowest && x <= highest;
}

inline bool shifts_ok(const BlobShifts& s) {
  return s.left >= 0 && s.left <= 15 && s.right >= 0 && s.right <= 31 &&
         (s.left == 0 || s.right == 0);
}
inline bool attention_ok(const BlobAttention& a) {
  return shifts_ok(a.query) && shifts_ok(a.key) && shifts_ok(a.value) && shifts_ok(a.context) &&
         shifts_ok(a.out);
}
inline bool has_norm(const BlobNorm& n) { return n.shift != 0; }
inline bool norm_ok(const BlobNorm& n) {
  return n.epsilon_n2 >= 1 && n.epsilon_n2 <= kMaxEpsilon && n.shift >= 8 && n.shift <= 38 &&
         n.reserved == 0;
}
inline bool optional_norm_ok(const BlobNorm& n) {
  return has_norm(n) ? norm_ok(n) : n.epsilon_n2 == 0 && n.reserved == 0;
}
inline bool dense16_ok(const BlobDense16& d) {
  return shifts_ok(d.shifts) && d.join_shift >= 0 && d.join_shift <= 8 && d.reserved == 0;
}
template <typename T>
inline bool all_zero(const T& object) {
  uint8_t bytes[sizeof(T)], any = 0;
  memcpy(bytes, &object, sizeof(T));
  for (uint8_t byte : bytes) any |= byte;
  return any == 0;
}
/// Must be zero in a model that does not use it.
inline bool dense16_ok(const BlobDense16& d, bool used) {
  return used ? dense16_ok(d) : all_zero(d);
}

}  // namespace embert
