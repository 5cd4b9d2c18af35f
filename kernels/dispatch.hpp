// SPDX-License-Identifier: Apache-2.0
// The kernel table: one function an operation, chosen once for a set of instruction-set clusters.
#pragma once

#include "kernels/contracts/crc32c.hpp"
#include "kernels/contracts/dense_rows.hpp"
#include "kernels/contracts/dot_rows.hpp"
#include "kernels/contracts/embedding.hpp"
#include "kernels/contracts/gemm.hpp"
#include "kernels/contracts/hidden_rows.hpp"
#include "kernels/contracts/layernorm.hpp"
#include "kernels/contracts/quantize.hpp"
#include "kernels/contracts/requantize.hpp"
#include "kernels/contracts/scores.hpp"
#include "kernels/contracts/softmax.hpp"

namespace embert {

struct Kernels {
  GemmFn gemm;
  RequantizeQueryFn requantize_query;
  RequantizeKeyFn requantize_key;
  RequantizeValueFn requantize_value;
  RequantizeKeyFn append_key;
  RequantizeValueFn append_value;
  RequantizeContextFn requantize_context;
  RequantizeActivationFn requantize_activation;
  RequantizeResidualFn requantize_residual;
  AddRelativePositionsFn add_relative_positions;
  MaskScoresFn mask_scores;
  SoftmaxFn softmax;
  AttentionProbabilitiesFn attention_probabilities;
  LayerNormFn layernorm;
  ConvertS8S16Fn convert_s8_s16;
  QuantizeS8S16Fn quantize_s8_s16;
  QuantizeU8U16Fn quantize_u8_u16;
  RescaleChannelsFn rescale_channels;
  ConvertS8x2S16Fn convert_s8x2_s16;
  ConvertS32S32x2Fn convert_s32_s32x2;
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
