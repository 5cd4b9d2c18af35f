// SPDX-License-Identifier: Apache-2.0
// Seeded random input where a folder lacks the real one: token ids without a tokenizer, targets
// with a vocabulary of their own, states of an encoder that is not in the folder. The values are
// the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "converter/model/model_config.hpp"
#include "converter/model/token_batch.hpp"

namespace embert::convert {

/// `texts` texts, alternating between up to 64 tokens and one token. Every third text has a second
/// segment where the model has one.
TokenBatch random_ids(const StackConfig& config, int max_tokens, std::size_t texts,
                      std::uint64_t seed);

/// Adds the input that a model needs beside the texts of its first stack. A model of two stacks
/// needs targets: the texts again where `repeat_texts` is set and both vocabularies have the same
/// size, else random ones of up to `max_tokens`. A lone decoder with cross-attention needs the
/// states of a source for each text: 1 to 64 tokens, but not more than its positions, of
/// independent values of variance 1.
ModelBatch complete_batch(const ModelConfig& config, TokenBatch texts, bool repeat_texts,
                          int max_tokens, std::uint64_t seed);

}  // namespace embert::convert
