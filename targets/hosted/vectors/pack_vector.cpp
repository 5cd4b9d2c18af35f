// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/vectors/pack_vector.hpp"

#include <cstring>

#include "embert/embert_vector.h"
#include "targets/hosted/model/model_file.hpp"

namespace embert::hosted {
namespace {

/// The map of sqlite-vec 0.1.9, vec_quantize_int8(v, 'unit'): the step is a float, all else double,
/// and the conversion to an integer drops the fraction.
int8_t unit_to_int8(float x) {
  constexpr auto kStep = static_cast<float>(2.0 / 255);
  const double code = (static_cast<double>(x) + 1.0) / static_cast<double>(kStep) - 128;
  return static_cast<int8_t>(code);
}

void pack_floats(const VectorView& vector, void* packed) {
  const float scale = embert_scale_to_float(vector.scale);
  auto* bytes = static_cast<uint8_t*>(packed);
  for (size_t i = 0; i < vector.n; ++i) {
    const float real = static_cast<float>(vector.values[i]) * scale;
    std::memcpy(bytes + i * sizeof real, &real, sizeof real);
  }
}

void pack_unit(const VectorView& vector, void* packed) {
  const float scale = embert_scale_to_float(vector.scale);
  auto* codes = static_cast<int8_t*>(packed);
  for (size_t i = 0; i < vector.n; ++i) {
    codes[i] = unit_to_int8(static_cast<float>(vector.values[i]) * scale);
  }
}

/// The first value in the highest bit.
uint8_t* pack_bits(const VectorView& vector, void* packed) {
  auto* bits = static_cast<uint8_t*>(packed);
  check(embert_quantize_bits(vector.values, vector.n, bits), "embert_quantize_bits");
  return bits;
}

uint8_t mirrored(uint8_t byte) {
  uint8_t result = 0;
  for (int bit = 0; bit < 8; ++bit) {
    if ((byte >> bit & 1) != 0) result = static_cast<uint8_t>(result | 0x80 >> bit);
  }
  return result;
}

}  // namespace

size_t packed_bytes(embert_vector_format format, size_t n) {
  switch (format) {
    case EMBERT_VECTOR_FLOAT32:
      return 4 * n;
    case EMBERT_VECTOR_INT16:
      return 2 * n;
    case EMBERT_VECTOR_INT8:
    case EMBERT_VECTOR_INT8_UNIT:
      return n;
    default:
      return (n + 7) / 8;
  }
}

bool is_signed(embert_vector_format format) {
  return format == EMBERT_VECTOR_INT8 || format == EMBERT_VECTOR_INT8_UNIT ||
         format == EMBERT_VECTOR_BINARY;
}

std::vector<double> real_values(const VectorView& vector) {
  const auto scale = static_cast<double>(embert_scale_to_float(vector.scale));
  std::vector<double> reals(vector.n);
  for (size_t i = 0; i < vector.n; ++i) reals[i] = static_cast<double>(vector.values[i]) * scale;
  return reals;
}

void pack_vector(const VectorView& vector, embert_vector_format format, void* packed) {
  const size_t bytes = packed_bytes(format, vector.n);
  switch (format) {
    case EMBERT_VECTOR_FLOAT32:
      return pack_floats(vector, packed);
    case EMBERT_VECTOR_INT16:
      std::memcpy(packed, vector.values, bytes);
      return;
    case EMBERT_VECTOR_INT8:
      return check(embert_quantize_int8(vector.values, vector.n, static_cast<int8_t*>(packed)),
                   "embert_quantize_int8");
    case EMBERT_VECTOR_INT8_UNIT:
      return pack_unit(vector, packed);
    case EMBERT_VECTOR_UBINARY:
      pack_bits(vector, packed);
      return;
    case EMBERT_VECTOR_BINARY: {
      uint8_t* bits = pack_bits(vector, packed);
      for (size_t i = 0; i < bytes; ++i) bits[i] = static_cast<uint8_t>(bits[i] ^ 0x80);
      return;
    }
    case EMBERT_VECTOR_BITS_LSB: {
      uint8_t* bits = pack_bits(vector, packed);
      for (size_t i = 0; i < bytes; ++i) bits[i] = mirrored(bits[i]);
      return;
    }
  }
}

}  // namespace embert::hosted
