// SPDX-License-Identifier: Apache-2.0
// libFuzzer: any text through tokenizers of byte-level BPE. An input is CallBytes and a text.
#include "tests/fuzz/support/documents.hpp"
#include "tests/fuzz/support/tokenizers.hpp"

using namespace embert::fuzz;

namespace {

const Tokenizers& tokenizers() {
  static const Tokenizers all(byte_pair_documents(), {"roberta", "roberta_prefix", "modernbert"});
  return all;
}

}  // namespace

// Reads the tokenizers before libFuzzer looks at the clock.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  tokenizers();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tokenizers().check(TextCall(data, size));
  return 0;
}
