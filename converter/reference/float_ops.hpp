// SPDX-License-Identifier: Apache-2.0
// What stands between the fully-connected layers, in plain float loops. Sums run in a fixed order
// of lanes that any compiler may vectorise without changing a bit; libm is called for one value at
// a time.
#pragma once

#include <pthreadpool.h>

#include <cstddef>

#include "converter/import/config/read_config.hpp"
#include "converter/import/weights/read_weights.hpp"

namespace embert::convert {

/// sum[i] += other[i]
void add_values(pthreadpool_t pool, float* sum, const float* other, std::size_t count);

/// out[r] = (in[r] - mean) / sqrt(variance + eps) * gamma + beta, moments in double; in and out
/// [rows, cols], which may be the same array.
void layer_norm_rows(pthreadpool_t pool, const float* in, const LayerNorm& norm, double eps,
                     std::size_t rows, float* out);

/// values[i] = act(values[i])
void apply_activation(pthreadpool_t pool, HiddenAct act, float* values, std::size_t count);

}  // namespace embert::convert
