// SPDX-License-Identifier: Apache-2.0
// The text of tokens, and which tokens continue a word: embert_detokenize and embert_mark_subwords
// on an opened tokenizer.
#pragma once

#include "embert/embert_tokenizer.h"
#include "runtime/tokenizer/tokenizer.hpp"

namespace embert {

/// embert_detokenize; an id without a token is TOKEN_OUT_OF_RANGE.
embert_status detokenize(const TokenizerView& tokenizer, const int32_t* ids, size_t count,
                         const embert_detokenize_options& options, embert_text_buffer* text);

/// embert_mark_subwords.
embert_status mark_subwords(const TokenizerView& tokenizer, const int32_t* ids,
                            const uint32_t* char_offsets, size_t tokens, uint8_t* is_subword);

}  // namespace embert
