// SPDX-License-Identifier: Apache-2.0
// libFuzzer: any text through tokenizers of Unigram.
#include "tests/fuzz/support/documents.hpp"
#include "tests/fuzz/support/text_program.hpp"

const embert::fuzz::Tokenizers& embert::fuzz::tokenizers() {
  static const Tokenizers all(unigram_documents(), {"xlmr", "xlmr_metaspace", "xlmr_converted",
                                                    "albert", "albert_converted", "byte_fallback"});
  return all;
}
