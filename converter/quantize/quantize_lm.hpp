// SPDX-License-Identifier: Apache-2.0
// The language head: transform, LayerNorm, and a row for each word of the vocabulary, which are the
// word embeddings as they lie in the blob or rows of their own.
#pragma once

#include "converter/quantize/quantize_heads.hpp"

namespace embert::convert {

/// `config` and `last`, already quantised, are of the stack below the head, `words` its word
/// embeddings; its last hidden states are in units of `hidden_step`.
QuantizedLm quantize_lm(const StackConfig& config, const LanguageHead& head, const Matrix& words,
                        const HeadRanges& ranges, const QuantizedStack& last, double hidden_step,
                        Rounding rounding, const HeadReport& report);

}  // namespace embert::convert
