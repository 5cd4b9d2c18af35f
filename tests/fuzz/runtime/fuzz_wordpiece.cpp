// SPDX-License-Identifier: Apache-2.0
// libFuzzer: any text through tokenizers of WordPiece.
#include "tests/fuzz/support/documents.hpp"
#include "tests/fuzz/support/text_program.hpp"

const embert::fuzz::Tokenizers& embert::fuzz::tokenizers() {
  static const Tokenizers all(wordpiece_documents(), {"mpnet"});
  return all;
}
