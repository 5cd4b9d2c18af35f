// SPDX-License-Identifier: Apache-2.0
// The output of both models that a comparison looks at.
#pragma once

#include <vector>

#include "converter/import/read_model_folder.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/reference/float_model.hpp"
#include "converter/verify/comparison.hpp"
#include "converter/verify/integer_model.hpp"

namespace embert::convert {

struct FloatSource {
  const ModelFolder& folder;
  FloatModel& floats;  ///< of that folder
};

/// The rows of all texts, one after the other: one a text, for token logits one a token.
std::vector<double> float_output(const FloatSource& source, Compared compared,
                                 const ModelBatch& batch);
TextVectors integer_output(IntegerModel& integers, Compared compared, const ModelBatch& batch);

/// An output that float and integer model computed for the same texts.
struct OutputPair {
  const std::vector<double>& floats;
  const TextVectors& integers;
};
/// Compares it text by text.
void add_texts(const OutputPair& outputs, const TokenBatch& texts, Comparison& comparison);

}  // namespace embert::convert
