// SPDX-License-Identifier: Apache-2.0
// Vectors of texts in the requested form: prompt, pooling, dimensions, length 1.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "targets/hosted/texts/run_texts.hpp"
#include "targets/hosted/vectors/pack_vector.hpp"

namespace embert::hosted {

struct VectorOptions {
  embert_pooling pooling = EMBERT_POOLING_MODEL;
  bool normalize = false;   ///< length 1, also of a model that makes others
  uint32_t dimensions = 0;  ///< the first so many; 0: all
  embert_vector_format format = EMBERT_VECTOR_FLOAT32;
  bool windows = false;                    ///< a text that is too long is read in windows, not cut
  std::optional<std::string> prompt;       ///< put before each text
  std::optional<std::string> prompt_name;  ///< of the model's prompts, if there is no `prompt`
};

/// Throws UsageError if the model cannot make vectors of this form. Returns their dimensions.
uint32_t check_vector_options(const ModelFile& file, const VectorOptions& options);

/// Returns a vector of the model in the form that checked options ask for: cut, then with length 1
/// if they ask for it, or if it is cut and the model's own have length 1. `storage` may hold its
/// values.
VectorView shaped_vector(const ModelFile& file, const VectorOptions& options,
                         const VectorView& vector, std::vector<int16_t>& storage);

/// A text's vector, cut and normalised; packing is left to the receiver. Null values for a text
/// without tokens.
struct TextVector {
  size_t text;
  uint32_t tokens;
  bool truncated;    ///< the text was cut to the model's length
  uint32_t windows;  ///< in which it was read
  VectorView vector;
};
using TextVectorSink = std::function<void(const TextVector& vector)>;

/// Calls sink with each text's shaped_vector(), in any thread and order. The vector of a text that
/// is read in windows is that of embed_long_text().
void text_vectors(HostedModel& model, const embert_hosted_texts& texts,
                  const VectorOptions& options, Progress& progress, const TextVectorSink& sink);

}  // namespace embert::hosted
