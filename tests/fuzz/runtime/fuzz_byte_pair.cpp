// SPDX-License-Identifier: Apache-2.0
// libFuzzer: any text through tokenizers of byte-level BPE.
#include "tests/fuzz/support/documents.hpp"
#include "tests/fuzz/support/text_program.hpp"

const embert::fuzz::Tokenizers& embert::fuzz::tokenizers() {
  static const Tokenizers all(byte_pair_documents(), {"roberta", "roberta_prefix", "modernbert"});
  return all;
}
