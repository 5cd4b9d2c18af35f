// SPDX-License-Identifier: Apache-2.0
// How a conversion may be run and what it reports: the small types that convert() shares with its
// stages.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "runtime/format/blob_format.hpp"

namespace embert::convert {

/// How weights are rounded to 8 bits (quantize/rounding/gptq.hpp).
enum class Rounding { kNearest, kGptq };

/// Bits of a value of the word embeddings (quantize/embeddings_4bit.hpp).
enum class EmbeddingBits { k8, k4 };

/// How close the model is to float32, and for how many multiply-adds (verify/choose_planes.hpp).
enum class Precision { kFast, kBalanced, kHigh };
const char* precision_name(Precision precision);

/// The growth of the model's error (VerifyResult::error) when an input in this layer has 8 bits
/// instead of 16, or of 14 in probabilities.
struct LayerPrecision {
  double first = 0;  ///< in QKV's input of the first token; 0 where `qkv` has it
  double attn_out = 0, ffn_up = 0, ffn_down = 0;
  double qkv = 0, probabilities = 0;  ///< at `high` both with that of 8-bit queries and keys
  BlobPlanes planes{};                ///< as chosen
};

struct PrecisionReport {
  Precision precision = Precision::kFast;
  std::string not_applied;             ///< the reason; empty where the level applies
  double cost = 0;                     ///< multiply-adds more, a share, for a text of 128 tokens
  std::vector<LayerPrecision> layers;  ///< empty where nothing was measured
};

/// The origin of the token ids that calibrated the model.
enum class CalibrationSource { kBuiltinText, kTextFile, kIdFile, kRandomIds };
const char* calibration_source_name(CalibrationSource source);

/// Called now and then in the caller's thread with the name of the running step and the share of
/// the whole that is done, 0 to 1.
using Progress = std::function<void(const std::string& step, double done)>;

/// Errors of a layer's outputs from rounding its weights: sqrt(power of the error / power of the
/// output) on calibration rows.
struct LayerErrors {
  double qkv = 0, attn_out = 0, ffn_up = 0, ffn_down = 0;
  double cross_query = 0, cross_key_value = 0, cross_out = 0;  ///< 0 without cross-attention
  std::size_t copies = 0;  ///< intermediate channels that outlier channel splitting added
};

/// A channel that reaches much further than most; its neighbours share the scale with it.
struct OutlierChannel {
  std::size_t channel = 0;
  double reach = 0;  ///< largest magnitude
};

/// How far the values that a dense layer reads went in calibration.
struct InputRange {
  std::string input;         ///< the dense layer: "qkv", "output", "ffn_up", "ffn_down"
  double reach = 0;          ///< largest magnitude
  double median_reach = 0;   ///< of the channels
  std::size_t channels = 0;  ///< that were measured
  std::vector<OutlierChannel> outliers{};  ///< farthest first
};

/// The rounding error of a dense layer on 16-bit rows: a task head, or the projection between two
/// stacks.
struct Dense16Error {
  std::string name;
  double error = 0;
};

/// Bytes of a blob by use.
struct BlobSizes {
  std::size_t encoder_weights = 0;  ///< 8-bit weights of layers and task heads
  std::size_t embeddings = 0;       ///< of tokens, positions and segments
  std::size_t vocabulary = 0;       ///< the tokenizer section
  std::size_t tables = 0;           ///< biases, multipliers, norms, labels, certificate, header
};

}  // namespace embert::convert
