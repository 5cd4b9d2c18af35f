// SPDX-License-Identifier: Apache-2.0
// Float32 against int8: the same token ids through the float model of a Hugging Face folder and
// through the runtime with the blob made from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "converter/integer_model.hpp"
#include "converter/model_batch.hpp"
#include "converter/read_model_folder.hpp"

namespace embert::convert {

/// A text on which the two differ most.
struct WorstText {
  std::size_t text = 0;  ///< number in the batch
  double cosine = 1;     ///< of the embedding, or of the logits
  double margin = 0;     ///< classifiers: by how much the float model prefers its label to int8's
  std::int32_t float_label = -1, int8_label = -1;
};

struct VerifyResult {
  std::size_t texts = 0, tokens = 0;
  bool classifier = false;
  /// Of the embeddings, or of a classifier's logits.
  double cosine_mean = 1, cosine_p01 = 1, cosine_min = 1;
  std::vector<double> cosines;  ///< [texts]
  /// Classifiers: share of texts with the same label (multi-label: the same set of labels;
  /// regression: nothing to count, 1), and the largest difference of a logit.
  double agreement = 1;
  double logit_error_max = 0;
  /// Share of the texts with the right label, where labels were given.
  std::optional<double> accuracy_float, accuracy_int8;
  std::vector<WorstText> worst;  ///< worst first
};

struct VerifyOptions {
  std::size_t worst = 5;
  /// Right label of each text, or empty.
  std::span<const std::int32_t> labels;
};

/// At least one text, each within what `integers` was made for. Throws ConvertError where blob and
/// folder are not of one shape.
VerifyResult verify(const ModelFolder& folder, FloatModel& floats, IntegerModel& integers,
                    const ModelBatch& batch, const VerifyOptions& options = {});

/// What of the model the runtime can not run, so that verify() has nothing to compare; empty where
/// it can.
std::string obstacle_to_verify(const ModelConfig& config);

/// Pools the last hidden state as the folder says: [texts, H], not normalised.
std::vector<double> pool_float(const PoolingConfig& pooling, std::size_t hidden_size,
                               std::span<const float> hidden,
                               std::span<const std::int32_t> lengths);

/// The converter's certificate: one JSON object with what verify() measured, without the texts and
/// with rounded numbers: {"texts": n, "tokens": n, "cosine_mean": x, "cosine_p01": x, "cosine_min":
/// x}, for classifiers also "agreement" and "logit_error_max".
nlohmann::ordered_json certificate_json(const VerifyResult& result);

/// verify() on the built-in texts that calibration never sees, or on `ids` (whole texts) where the
/// model has no tokenizer, as certificate_json().
nlohmann::ordered_json certify(const ModelFolder& folder, FloatModel& floats,
                               std::span<const std::uint8_t> blob, std::uint32_t isa_mask,
                               std::uint32_t threads, const ModelBatch& ids);

}  // namespace embert::convert
