// SPDX-License-Identifier: Apache-2.0
// The kernel table: one function an operation, chosen once for a set of instruction-set clusters.
#pragma once

#include "kernels/attention_scores.hpp"
#include "kernels/crc32c.hpp"
#include "kernels/dense_rows.hpp"
#include "kernels/dot_rows.hpp"
#include "kernels/embedding.hpp"
#include "kernels/gemm.hpp"
#include "kernels/hidden_rows.hpp"
#include "kernels/layernorm.hpp"
#include "kernels/quantize.hpp"
#include "kernels/requantize.hpp"
#include "kernels/softmax.hpp"

namespace embert {

struct Kernels {
  GemmFn gemm;
  RequantizeLhsFn requantize_lhs;
  RequantizeKeyFn requantize_key;
  RequantizeValueFn requantize_value;
  RequantizeKeyFn append_key;
  RequantizeValueFn append_value;
  RequantizeContextFn requantize_context;
  RequantizeActivationFn requantize_activation;
  RequantizeResidualFn requantize_residual;
  AddRelativeFn add_relative;
  MaskScoresFn mask_scores;
  SoftmaxFn softmax;
  AttentionProbabilitiesFn attention_probabilities;
  LayerNormFn layernorm;
  NarrowRowsFn narrow_rows;
  QuantizeRowsS16Fn quantize_rows_s16;
  QuantizeRowsU16Fn quantize_rows_u16;
  HiddenRowsFn hidden_rows;
  SplitRowsFn split_rows;
  JoinRowsFn join_rows;
  DotRowsFn dot_rows;
  EmbeddingFn embedding;
  EmbeddingVectorFn embedding_vector;
  Crc32cFn crc32c;
};

/// Clusters that this build has kernels for.
uint32_t compiled_isas();

/// The best kernel of each operation among the clusters in isa_mask (scalar is always there). The
/// caller makes sure that the machine has them.
Kernels select_kernels(uint32_t isa_mask);

/// Name of the last cluster in the mask that this build knows, "scalar" for none.
const char* isa_name(uint32_t isa_mask);

}  // namespace embert
