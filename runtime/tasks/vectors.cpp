// SPDX-License-Identifier: Apache-2.0
// Makes sentence vectors smaller and compares them.
#include "embert/embert_vector.h"
#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {
namespace {

/// 2^31 squares of 16-bit values fit 62 bits.
constexpr size_t kMaxDimensions = size_t{1} << 31;

embert_status check(const void* a, const void* b, size_t n) {
  if (a == nullptr || b == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  if (n == 0) return EMBERT_STATUS_EMPTY_INPUT;
  return n > kMaxDimensions ? EMBERT_STATUS_INVALID_OPTION : EMBERT_STATUS_OK;
}

template <typename T>
int64_t dot(const T* a, const T* b, size_t n) {
  int64_t sum = 0;
  for (size_t c = 0; c < n; ++c) sum += int32_t{a[c]} * b[c];
  return sum;
}

template <typename T>
embert_status cosine(const T* a, const T* b, size_t n, int32_t* cosine_q30) {
  if (cosine_q30 == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const embert_status status = check(a, b, n);
  if (status != EMBERT_STATUS_OK) return status;
  const int64_t product = dot(a, b, n);
  *cosine_q30 = 0;
  if (product == 0) return EMBERT_STATUS_OK;
  // dot / (|a| |b|): the dot's magnitude m * 2^(z - 31), the inverse lengths r * 2^(h - 90).
  const Rsqrt ra = rsqrt(static_cast<uint64_t>(dot(a, a, n)));
  const Rsqrt rb = rsqrt(static_cast<uint64_t>(dot(b, b, n)));
  const uint64_t r = (static_cast<uint64_t>(ra.y_q30) * static_cast<uint64_t>(rb.y_q30)) >> 30;
  const int32_t h = ra.h / 2 + rb.h / 2;
  const uint64_t magnitude = static_cast<uint64_t>(product < 0 ? -product : product);
  const int32_t z = floor_log2(magnitude);
  const uint64_t m = z >= 31 ? magnitude >> (z - 31) : magnitude << (31 - z);
  const int32_t shift = 90 + 31 - 30 - z - h;
  const int64_t value = shift > 62 ? 0 : shift_round(static_cast<int64_t>(m * r), shift);
  const int32_t bounded = static_cast<int32_t>(clamp<int64_t>(value, 0, int64_t{1} << 30));
  *cosine_q30 = product < 0 ? -bounded : bounded;
  return EMBERT_STATUS_OK;
}

}  // namespace
}  // namespace embert

embert_status embert_normalize_int16(const int16_t* v, size_t n, int16_t* unit) {
  using namespace embert;
  const embert_status status = check(v, unit, n);
  if (status != EMBERT_STATUS_OK) return status;
  const uint64_t squares = static_cast<uint64_t>(dot(v, v, n));
  const Rsqrt r = rsqrt(squares == 0 ? 1 : squares);  // 1 / |v| = y * 2^(h/2 - 60)
  for (size_t c = 0; c < n; ++c) {
    const int64_t value = shift_round(int64_t{v[c]} * r.y_q30, 45 - r.h / 2);
    unit[c] = static_cast<int16_t>(clamp<int64_t>(value, -32767, 32767));
  }
  return EMBERT_STATUS_OK;
}

embert_status embert_quantize_int8(const int16_t* v, size_t n, int8_t* bytes) {
  using namespace embert;
  const embert_status status = check(v, bytes, n);
  if (status != EMBERT_STATUS_OK) return status;
  int32_t largest = 1;
  for (size_t c = 0; c < n; ++c) {
    const int32_t magnitude = v[c] < 0 ? -v[c] : v[c];
    largest = magnitude > largest ? magnitude : largest;
  }
  for (size_t c = 0; c < n; ++c) {
    const int32_t magnitude = v[c] < 0 ? -v[c] : v[c];
    const int32_t rounded = (magnitude * 254 + largest) / (2 * largest);
    bytes[c] = static_cast<int8_t>(v[c] < 0 ? -rounded : rounded);
  }
  return EMBERT_STATUS_OK;
}

embert_status embert_quantize_bits(const int16_t* v, size_t n, uint8_t* bits) {
  using namespace embert;
  const embert_status status = check(v, bits, n);
  if (status != EMBERT_STATUS_OK) return status;
  for (size_t c = 0; c < n; ++c) {
    const uint32_t before = c % 8 == 0 ? 0u : bits[c / 8];
    bits[c / 8] = static_cast<uint8_t>(before | ((v[c] > 0 ? 128u : 0u) >> (c % 8)));
  }
  return EMBERT_STATUS_OK;
}

embert_status embert_cosine_int16(const int16_t* a, const int16_t* b, size_t n,
                                  int32_t* cosine_q30) {
  return embert::cosine(a, b, n, cosine_q30);
}

embert_status embert_cosine_int8(const int8_t* a, const int8_t* b, size_t n, int32_t* cosine_q30) {
  return embert::cosine(a, b, n, cosine_q30);
}

embert_status embert_hamming(const uint8_t* a, const uint8_t* b, size_t n, uint32_t* distance) {
  using namespace embert;
  if (distance == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const embert_status status = check(a, b, n);
  if (status != EMBERT_STATUS_OK) return status;
  *distance = 0;
  for (size_t byte = 0; byte < n / 8 + (n % 8 != 0); ++byte) {
    const size_t left = n - 8 * byte;
    const uint32_t used = left >= 8 ? 0xffu : 0xff00u >> left;  // the first `left` bits of the byte
    uint32_t different = (uint32_t{a[byte]} ^ b[byte]) & used & 0xffu;
    for (; different != 0; different &= different - 1) ++*distance;
  }
  return EMBERT_STATUS_OK;
}
