// SPDX-License-Identifier: Apache-2.0
// Bytes of the parts of which sections are made (FORMAT.md, section 4).
#pragma once

#include "kernels/arithmetic/layout.hpp"
#include "runtime/format/blob_format.hpp"

namespace embert {

/// Of a dense layer [N(n)] x [K(k)]: weights; bias, sums and multipliers.
static inline size_t dense_bytes(size_t n, size_t k) {
  return pad_columns(n) * (pad_inputs(k) + 12);
}
/// Of a residual dense layer: weights; sums, multipliers, residual and constants.
static inline size_t residual_dense_bytes(size_t n, size_t k) {
  return pad_columns(n) * (pad_inputs(k) + 16);
}
/// Of a LayerNorm: gain and bias.
static inline size_t norm_bytes(size_t size) { return 8 * size; }

/// Of the section qkv of a layer with this BlobBottleneckKind: an attention head's parts, each
/// N(D) columns, and whether they read the hidden state.
static inline size_t qkv_parts(uint32_t bottleneck) {
  return bottleneck == kBottleneckShared ? 2 : 3;
}
static inline bool reads_hidden(uint32_t bottleneck) {
  return bottleneck == kBottleneckNone || bottleneck == kBottleneckOutput;
}

}  // namespace embert
