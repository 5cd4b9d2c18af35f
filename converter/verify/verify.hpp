// SPDX-License-Identifier: Apache-2.0
// Float32 against int8: the same token ids through the float model of a Hugging Face folder and
// through the runtime with the blob made from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "converter/import/read_model_folder.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/reference/float_model.hpp"
#include "converter/verify/comparison.hpp"
#include "converter/verify/integer_model.hpp"

namespace embert::convert {

/// At least one text, each within what `integers` was made for. Throws ConvertError where blob and
/// folder are not of one shape.
VerifyResult verify(const ModelFolder& folder, FloatModel& floats, IntegerModel& integers,
                    const ModelBatch& batch, const VerifyOptions& options = {});

/// Texts through the blob's tokenizer, with what the model takes beside them (random_tokens.hpp).
/// Throws ConvertError where there is no tokenizer.
ModelBatch batch_of_texts(const ModelConfig& config, const IntegerModel& integers,
                          std::span<const std::string_view> texts);

/// Pools the last hidden state as the folder says: [texts, H], not normalised.
std::vector<double> pool_float(const PoolingConfig& pooling, std::size_t hidden_size,
                               std::span<const float> hidden,
                               std::span<const std::int32_t> lengths);

/// The converter's certificate: one JSON object with what verify() measured, without the texts and
/// with rounded numbers: {"compared": compared_name(), "texts": n, "tokens": n, "cosine_mean": x,
/// "cosine_p01": x, "cosine_min": x}, for heads also "agreement" and "logit_error_max".
nlohmann::ordered_json certificate_json(const VerifyResult& result);

/// verify() on the built-in texts that calibration never sees, or on `ids` (whole texts) where the
/// model has no tokenizer, as certificate_json().
nlohmann::ordered_json certify(const ModelFolder& folder, FloatModel& floats,
                               std::span<const std::uint8_t> blob, std::uint32_t isa_mask,
                               std::uint32_t threads, const ModelBatch& ids);

}  // namespace embert::convert
