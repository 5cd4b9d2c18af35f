// SPDX-License-Identifier: Apache-2.0
// libFuzzer: any text through tokenizers of Unigram. An input is CallBytes and a text.
#include "tests/fuzz/support/documents.hpp"
#include "tests/fuzz/support/tokenizers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace embert::fuzz;
  static const Tokenizers tokenizers(
      unigram_documents(),
      {"xlmr", "xlmr_metaspace", "xlmr_converted", "albert", "albert_converted", "byte_fallback"});
  tokenizers.check(TextCall(data, size));
  return 0;
}
