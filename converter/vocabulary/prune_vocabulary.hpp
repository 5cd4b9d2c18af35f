// SPDX-License-Identifier: Apache-2.0
// Removes pruned tokens from a tokenizer and from the tables of a quantised model. The rows that
// stay are those of the whole model, so tokens that stay give the same bytes.
#pragma once

#include "converter/model/model_config.hpp"
#include "converter/model/quantized_model.hpp"
#include "converter/model/tokenizer_spec.hpp"
#include "converter/vocabulary/kept_ids.hpp"

namespace embert::convert {

/// The ids that a model itself uses, beside those of texts, in the vocabulary of its first stack.
std::vector<std::uint32_t> ids_of_model(const ModelConfig& config);

/// Ids from spec.tokens.size() on are rows without a token. With BPE the parts of each kept token
/// must stay.
TokenizerSpec prune_tokenizer(const TokenizerSpec& spec, const KeptIds& kept);

/// Prunes the first stack, and the last one with its language head if it has as many ids, for then
/// both have the tokenizer's. `config` gets the new sizes and ids.
void prune_model(const KeptIds& kept, QuantizedModel& model, ModelConfig& config);

}  // namespace embert::convert
