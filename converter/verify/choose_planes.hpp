// SPDX-License-Identifier: Apache-2.0
// Chooses the inputs that keep 16 bits, or 14 where they are probabilities: runs of the model
// measure how much error 8 bits cause in each of them, and a budget of multiply-adds, which is
// larger at Precision::kHigh, goes to those where it takes away most. At kHigh queries and keys can
// have 16 bits, too.
#pragma once

#include "converter/export/write_blob.hpp"
#include "converter/model/conversion.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/verify/compared_output.hpp"
#include "converter/verify/integer_model.hpp"

namespace embert::convert {

struct PlaneSource {
  FloatSource floats;
  const BlobExtras& extras;
  const ModelBatch& batch;  ///< calibration texts
  IntegerModel::Options integers;
};

/// Sets the planes of the model's stack. The result depends on neither kernels nor threads. A model
/// that has no planes keeps 8 bits, and PrecisionReport::not_applied says why.
PrecisionReport choose_planes(const PlaneSource& source, Precision precision,
                              QuantizedModel& model);

}  // namespace embert::convert
