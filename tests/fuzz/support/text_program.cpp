// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/support/text_program.hpp"

// Reads the tokenizers before libFuzzer looks at the clock.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  embert::fuzz::tokenizers();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  embert::fuzz::tokenizers().check(embert::fuzz::TextCall(data, size));
  return 0;
}
