// SPDX-License-Identifier: Apache-2.0
// Seeded random input for what a folder does not bring: token ids without a tokenizer, targets in a
// vocabulary of their own, states of an encoder that is not there. The same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "converter/model/model_config.hpp"
#include "converter/model/token_batch.hpp"

namespace embert::convert {

/// `texts` texts, in turn of up to 64 tokens and of one, every third with a second segment where
/// the model knows one.
TokenBatch random_ids(const StackConfig& config, int max_tokens, std::size_t texts,
                      std::uint64_t seed);

/// Adds what a model takes beside texts of its first stack. A model of two stacks needs targets:
/// the texts once more where `repeat_texts` and both vocabularies are of one size, else random ones
/// of up to `max_tokens`. A lone decoder with cross-attention needs the states of a source for each
/// text: up to 64 tokens, but not more than its positions, of independent values of variance 1.
ModelBatch complete_batch(const ModelConfig& config, TokenBatch texts, bool repeat_texts,
                          int max_tokens, std::uint64_t seed);

}  // namespace embert::convert
