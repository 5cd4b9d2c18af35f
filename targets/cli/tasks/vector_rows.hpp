// SPDX-License-Identifier: Apache-2.0
// Vectors of texts in the requested form: pooling, length 1, dimensions, int8 or bits.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "targets/cli/model/model_session.hpp"

namespace embert::cli {

enum class VectorFormat { kFloat, kInt8, kBits };

struct VectorOptions {
  std::string pooling;  ///< empty: the model's own
  bool normalize = false;
  uint32_t dimensions = 0;  ///< 0: all
  std::string format = "float";
  std::optional<std::string> prompt_name;  ///< empty: no prompt; absent: the model's default one

  void add_to(CLI::App& command);
  VectorFormat vector_format() const;
  /// What goes before each text. Throws UsageError if the model has no prompt of this name.
  std::string prompt(const ModelFile& file) const;
};

/// Returns a vector for each text, cut to the first dimensions. Vectors get length 1 if the options
/// ask for it, or if they are cut and the model's own have length 1. Throws UsageError for more
/// dimensions than the model has.
Rows<int16_t> text_vectors(const ModelSession& session, const ModelFile& file,
                           const std::vector<TextTokens>& texts, const VectorOptions& options);

std::vector<int8_t> int8_vector(const int16_t* values, size_t size);
/// Returns the signs as bits, 1 above zero; the first is the highest bit of the first byte.
std::vector<uint8_t> bit_vector(const int16_t* values, size_t size);

}  // namespace embert::cli
