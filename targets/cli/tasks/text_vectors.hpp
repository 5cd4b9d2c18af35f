// SPDX-License-Identifier: Apache-2.0
// Vectors of texts in the form that is asked for: pooling, length 1, dimensions, bytes or bits.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "targets/cli/model/model_session.hpp"

namespace embert::cli {

enum class VectorFormat { kFloat, kInt8, kBits };

struct VectorOptions {
  std::string pooling;  ///< empty: the model's
  bool normalize = false;
  uint32_t dimensions = 0;  ///< 0: all
  std::string format = "float";

  void add_to(CLI::App& command);
  VectorFormat vector_format() const;
};

/// A vector for each text: the first dimensions, of length 1 again where the model's are or that is
/// asked for. Throws UsageError for more dimensions than there are.
Rows<int16_t> text_vectors(const ModelSession& session, const ModelFile& file,
                           const std::vector<TextTokens>& texts, const VectorOptions& options);

std::vector<int8_t> int8_vector(const int16_t* values, size_t size);
/// size bits in bytes, the first in the highest bit of the first byte.
std::vector<uint8_t> bit_vector(const int16_t* values, size_t size);

}  // namespace embert::cli
