// SPDX-License-Identifier: Apache-2.0
// Compares an int8 model with the float32 model of the folder that it was made from.
#pragma once

#include <string>
#include <vector>

#include "converter/model/token_batch.hpp"
#include "converter/verify/comparison.hpp"
#include "targets/hosted/line_text.hpp"
#include "targets/hosted/model/model_file.hpp"
#include "targets/hosted/model/text_tokens.hpp"
#include "targets/hosted/texts/text_list.hpp"

namespace embert::hosted {

struct ModelComparison {
  convert::VerifyResult result;
  std::vector<std::string> warnings;  ///< about the folder
};

/// At least one text. The progress function of the texts is called between parts of them. Throws
/// InputError for a folder that cannot be read or does not fit the model, Cancelled.
ModelComparison verify_model(const ModelFile& file, const std::string& folder,
                             const embert_hosted_texts& texts, uint32_t threads);

/// Texts that are tokens already, none of them longer than the model's max_tokens.
struct TokensToVerify {
  convert::TokenBatch tokens = {};
  convert::SeeText see = {};  ///< called with both outputs of each text, in order
  uint32_t threads = 1;
};
void add_tokens(convert::TokenBatch& batch, const TextTokens& tokens);
/// Throws as verify_model().
ModelComparison verify_tokens(const ModelFile& file, const std::string& folder,
                              const TokensToVerify& input, Progress& progress);

/// The name of a label, or its number.
std::string compared_label(const ModelFile& file, int32_t label);

/// The JSON of `embert verify --json`.
Json comparison_json(const ModelFile& file, const convert::VerifyResult& result,
                     const embert_hosted_texts& texts);

}  // namespace embert::hosted
