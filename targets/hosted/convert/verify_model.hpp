// SPDX-License-Identifier: Apache-2.0
// Compares an int8 model with the float32 model of the folder that it was made from.
#pragma once

#include <string>
#include <vector>

#include "converter/verify/comparison.hpp"
#include "targets/hosted/convert/quality.hpp"
#include "targets/hosted/line_text.hpp"
#include "targets/hosted/model/model_file.hpp"
#include "targets/hosted/texts/text_list.hpp"

namespace embert::hosted {

struct ModelComparison {
  convert::VerifyResult result;
  std::vector<std::string> warnings;  ///< about the folder
};

/// At least one text. `worst` bounds the list of worst texts. The progress function of the texts is
/// called between parts of them. Throws InputError for a folder that cannot be read or does not fit
/// the model, Cancelled.
ModelComparison verify_model(const ModelFile& file, const std::string& folder,
                             const embert_hosted_texts& texts, uint32_t threads, size_t worst = 5);

/// The cosines of pairs of texts by both models, with the model's default prompt before each text
/// as `embert similarity` puts it; PairScores::gold stays empty. Throws as verify_model(), for a
/// folder of the model's shape.
PairScores verify_pairs(const ModelFile& file, const std::string& folder,
                        const embert_hosted_texts& pairs, uint32_t threads);

/// The name of a label, or its number.
std::string compared_label(const ModelFile& file, int32_t label);

/// The JSON of `embert verify --json`.
Json comparison_json(const ModelFile& file, const convert::VerifyResult& result,
                     const embert_hosted_texts& texts);

}  // namespace embert::hosted
