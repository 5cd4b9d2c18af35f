// SPDX-License-Identifier: Apache-2.0
// Float32 against int8: the same token ids through the float model of a Hugging Face folder, and
// through the runtime with a blob made from that folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "converter/import/read_model_folder.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/verify/comparison.hpp"
#include "converter/verify/integer_model.hpp"

namespace embert::convert {

class FloatModel;

/// Enough texts for VerifyResult::hidden_errors.
inline constexpr std::size_t kLayerTexts = 64;

/// At least one text; each fits max_tokens() of `integers`. The float model gets the tokens of a
/// pruned vocabulary, too. Throws ConvertError where the blob does not have the folder's sizes.
VerifyResult verify(const ModelFolder& folder, FloatModel& floats, IntegerModel& integers,
                    const ModelBatch& batch, const VerifyOptions& options = {});

/// Texts through the blob's tokenizer; inputs of the model that texts do not provide are random and
/// seeded (random_tokens.hpp). Throws ConvertError where the blob has no tokenizer.
ModelBatch batch_of_texts(const ModelConfig& config, const IntegerModel& integers,
                          std::span<const std::string_view> texts);
/// A batch of texts that are tokens already.
ModelBatch batch_of_tokens(const ModelConfig& config, const IntegerModel& integers,
                           TokenBatch texts);

/// {"kind": answer_name(), "count": n, "differing": n}, where a model has answers.
nlohmann::ordered_json answers_json(const VerifyResult& result);

/// The certificate's JSON object with rounded results of verify(): {"compared": compared_name(),
/// "texts": n, "tokens": n, "cosine_mean": x, "cosine_p01": x, "cosine_min": x}, with a task head
/// also "agreement", "answers": answers_json() and "logit_error_max".
nlohmann::ordered_json certificate_json(const VerifyResult& result);

/// verify() on `ids`; where these are empty, on the built-in texts that calibration never uses.
VerifyResult certify(const ModelFolder& folder, FloatModel& floats,
                     std::span<const std::uint8_t> blob, const IntegerModel::Options& options,
                     const ModelBatch& ids);

}  // namespace embert::convert
