// SPDX-License-Identifier: Apache-2.0
// libFuzzer: the reader of tokenizer.json refuses a document with a ConvertError, or the runtime
// runs the tokenizer.
#include "converter/convert_error.hpp"
#include "converter/import/tokenizer/read_tokenizer.hpp"
#include "tests/fuzz/support/check_message.hpp"
#include "tests/fuzz/support/json_mutator.hpp"
#include "tests/fuzz/support/section_check.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return embert::fuzz::mutate_json(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace embert;
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    fuzz::check_section_of(convert::parse_tokenizer_json(text, "tokenizer.json"));
  } catch (const convert::ConvertError& error) {
    fuzz::check_message(error.what());
  }
  return 0;
}
