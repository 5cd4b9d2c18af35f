// SPDX-License-Identifier: Apache-2.0
// The kernel table: one function an operation, chosen once for a set of ISA extensions.
#pragma once

#include "kernels/contracts/activation.hpp"
#include "kernels/contracts/context.hpp"
#include "kernels/contracts/convert_rows.hpp"
#include "kernels/contracts/crc32c.hpp"
#include "kernels/contracts/dense.hpp"
#include "kernels/contracts/dot_rows.hpp"
#include "kernels/contracts/embedding.hpp"
#include "kernels/contracts/gate.hpp"
#include "kernels/contracts/gemm.hpp"
#include "kernels/contracts/layernorm.hpp"
#include "kernels/contracts/qkv.hpp"
#include "kernels/contracts/quantize.hpp"
#include "kernels/contracts/residual.hpp"
#include "kernels/contracts/rotary.hpp"
#include "kernels/contracts/scores.hpp"
#include "kernels/contracts/softmax.hpp"
#include "kernels/processor.hpp"

namespace embert {

struct Kernels {
  GemmFn gemm;
  RotateFn rotate;
  RequantizeQueryFn requantize_query;
  RequantizeKeyFn requantize_key;
  RequantizeQueryS8x2Fn requantize_query_s8x2;
  RequantizeKeyS8x2Fn requantize_key_s8x2;
  RequantizeValueFn requantize_value;
  AppendKeyFn append_key;
  AppendValueFn append_value;
  RequantizeContextFn requantize_context;
  RequantizeActivationFn requantize_activation;
  RequantizeGateFn requantize_gate;
  RequantizeResidualFn requantize_residual;
  AddRelativePositionsFn add_relative_positions;
  MaskDistantFn mask_distant;
  MaskScoresFn mask_scores;
  SoftmaxFn softmax;
  SoftmaxU8x2Fn softmax_u8x2;
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
  Embedding4BitFn embedding_4bit;
  EmbeddingVectorFn embedding_vector;
  Crc32cFn crc32c;
  DenseActivationFn dense_activation;
  DenseResidualFn dense_residual;
};

/// ISA extensions that this build has kernels for, as a mask.
uint32_t compiled_isas();

/// The best kernel of each operation among the extensions in isa_mask; scalar kernels are always
/// there. The caller makes sure that the machine has the extensions.
Kernels select_kernels(uint32_t isa_mask);

/// Name of the best extension in the mask, "scalar" if it has none.
const char* isa_name(uint32_t isa_mask);

}  // namespace embert
