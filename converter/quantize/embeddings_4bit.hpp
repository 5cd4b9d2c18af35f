// SPDX-License-Identifier: Apache-2.0
// Word embeddings with 4 bits a value (kernels/arithmetic/word_4bit.hpp). 16 levels are fitted to
// the table (Lloyd 1982): on trained tables they lie closer around zero than even steps would. Each
// group of 32 columns takes the scale, of either sign, with the least squared error.
#pragma once

#include "converter/model/matrix.hpp"
#include "converter/model/quantized_model.hpp"
#include "converter/workers.hpp"

namespace embert::convert {

/// Replaces the 8-bit word embeddings of a stack, which is complete otherwise, by 4-bit ones of the
/// same float table.
void quantize_words_4bit(const Matrix& tokens, Workers& workers, QuantizedStack& out);

}  // namespace embert::convert
