// SPDX-License-Identifier: Apache-2.0
// The forms in which vectors are stored. The tool, its .npy files and the Python package all get
// theirs here, so that the same vector has the same bytes everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "targets/hosted/embert_hosted.h"

namespace embert::hosted {

/// Bytes of a packed vector of n values.
size_t packed_bytes(embert_vector_format format, size_t n);

/// Whether the bytes of a packed vector are signed; not for FLOAT32 and INT16.
bool is_signed(embert_vector_format format);

/// A vector of the runtime; real = value * scale.
struct VectorView {
  const int16_t* values;  ///< [n]
  size_t n;
  embert_scale scale;
};

/// The values of a vector as all JSON shows them.
std::vector<double> real_values(const VectorView& vector);

/// Writes packed_bytes(format, vector.n) bytes. INT8_UNIT: |real| is at most 1.
void pack_vector(const VectorView& vector, embert_vector_format format, void* packed);

}  // namespace embert::hosted
