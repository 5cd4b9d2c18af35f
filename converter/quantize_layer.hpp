// SPDX-License-Identifier: Apache-2.0
// One encoder layer from float32 to integers, in three steps: choose the domains of its inputs from
// the calibrated ranges, round the weights of its four GEMMs (independent of each other, the costly
// part), and put the integers together.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "converter/calibrate.hpp"
#include "converter/calibration_rows.hpp"
#include "converter/quantized_model.hpp"
#include "converter/round_weights.hpp"

namespace embert::convert {

enum class LayerPart { kQkv, kOutput, kFfn1, kFfn2 };
inline constexpr std::size_t kLayerParts = 4;

/// What a layer is made from; references to the float model and its calibration.
struct LayerSource {
  const BertConfig& config;
  const LayerWeights& weights;
  const LayerNorm& input_norm;  ///< the LayerNorm that makes the layer's input
  const LayerRanges& ranges;
  std::string name;  ///< "encoder.layer.0"
};

/// Domains of the inputs and of the activation's output. `warnings` gets a line where values must
/// be cut off.
LayerSteps plan_layer(const LayerSource& source, std::vector<std::string>& warnings);
/// Real value of a unit of the 16-bit values (attention's V).
double value_step(const LayerSource& source, const InputDomain& input);

/// A GEMM with rounded weights; real bias such that the mean output on the calibration rows is that
/// of the float model.
struct RoundedDense {
  RoundedWeights codes;
  std::vector<double> step;  ///< [outputs] real folded weight of a code
  std::vector<double>
      bias;  ///< [outputs] to be added to the product of dequantised input and codes
  double relative_error = 0;  ///< of the output, from the rounding of weights alone
};
RoundedDense round_layer_part(const LayerSource& source, const LayerSteps& steps, LayerPart part,
                              const QuantizedRows& rows, Rounding rounding);

struct AssembledLayer {
  QuantizedLayer layer;
  double sum_step = 1;     ///< real value of a unit of the layer's last sum, input of the next norm
  std::size_t copies = 0;  ///< intermediate channels added for wide columns
};
AssembledLayer assemble_layer(const LayerSource& source, const LayerSteps& steps,
                              const std::array<RoundedDense, kLayerParts>& parts,
                              double input_sum_step);

}  // namespace embert::convert
