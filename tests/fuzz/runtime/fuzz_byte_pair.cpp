// SPDX-License-Identifier: Apache-2.0
// libFuzzer: any text through tokenizers of byte-level BPE. An input is CallBytes and a text.
#include "tests/fuzz/support/documents.hpp"
#include "tests/fuzz/support/tokenizers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace embert::fuzz;
  static const Tokenizers tokenizers(byte_pair_documents(),
                                     {"roberta", "roberta_prefix", "modernbert"});
  tokenizers.check(TextCall(data, size));
  return 0;
}
