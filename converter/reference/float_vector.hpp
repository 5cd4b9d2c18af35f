// SPDX-License-Identifier: Apache-2.0
// The vector of a text in floating point: poolings side by side, then Dense modules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "converter/model/pooling_config.hpp"

namespace embert::convert {

/// Vectors of texts at one place of the chain.
struct VectorRows {
  std::size_t width = 0;
  std::vector<double> values;  ///< [texts, width]
};

/// Each row scaled to length 1; rows of zeros stay.
void normalize_rows(VectorRows& rows);

/// Pools the last hidden state [tokens, H], one text after another: [texts, kinds * H].
VectorRows pool_float(const PoolingConfig& pooling, std::size_t hidden_size,
                      std::span<const float> hidden, std::span<const std::int32_t> lengths);

/// weight x + bias of a Dense module, where x is its input, normalised if the module asks for it.
VectorRows dense_sums(const VectorDense& dense, const VectorRows& input);
/// The module's activation on its sums.
void activate_rows(const VectorDense& dense, VectorRows& rows);

/// The whole chain but for a normalisation at its end.
VectorRows float_vectors(const PoolingConfig& pooling, std::size_t hidden_size,
                         std::span<const float> hidden, std::span<const std::int32_t> lengths);

}  // namespace embert::convert
