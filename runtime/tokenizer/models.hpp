// SPDX-License-Identifier: Apache-2.0
// The tokenizer models of this build; the CMake option EMBERT_TOKENIZERS chooses them.
#ifndef EMBERT_RUNTIME_TOKENIZER_MODELS_HPP_
#define EMBERT_RUNTIME_TOKENIZER_MODELS_HPP_

#include "runtime/format/tokenizer_format.hpp"

namespace embert {

#ifdef EMBERT_HAS_WORDPIECE
constexpr bool kHasWordPiece = true;
#else
constexpr bool kHasWordPiece = false;
#endif
#ifdef EMBERT_HAS_UNIGRAM
constexpr bool kHasUnigram = true;
#else
constexpr bool kHasUnigram = false;
#endif
#ifdef EMBERT_HAS_BPE
constexpr bool kHasBpe = true;
#else
constexpr bool kHasBpe = false;
#endif

constexpr bool has_tokenizer_model(TokenizerModel model) {
  switch (model) {
    case TokenizerModel::kWordPiece:
      return kHasWordPiece;
    case TokenizerModel::kUnigram:
      return kHasUnigram;
    case TokenizerModel::kBpe:
      return kHasBpe;
  }
  return false;
}

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_MODELS_HPP_
