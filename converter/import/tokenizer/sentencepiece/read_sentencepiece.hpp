// SPDX-License-Identifier: Apache-2.0
// A tokenizer from a model file of sentencepiece, as transformers 4.44 converts it.
#pragma once

#include <string>
#include <string_view>

#include "converter/model/tokenizer_spec.hpp"

namespace embert::convert {

/// The settings of the tokenizer class, which the file does not contain.
struct SentencePieceSettings {
  enum class Family { kXlmRoberta, kCamembert, kAlbert };
  Family family = Family::kXlmRoberta;
  bool lowercase = true;      ///< kAlbert: do_lower_case
  bool keep_accents = false;  ///< kAlbert
};

/// XLM-R and CamemBERT put fairseq's special tokens in front of the pieces and <mask> behind them;
/// ALBERT has all its tokens in the file. `file` stands in messages. Throws ConvertError.
TokenizerSpec read_sentencepiece(std::string_view bytes, const std::string& file,
                                 const SentencePieceSettings& settings);

}  // namespace embert::convert
