// SPDX-License-Identifier: Apache-2.0
// libFuzzer: the tokenizer's files of a folder (vocab.txt, vocab.json with merges.txt, and what
// goes with them) are refused with a ConvertError, or the runtime runs the tokenizer.
#include "converter/convert_error.hpp"
#include "converter/import/tokenizer/read_tokenizer.hpp"
#include "tests/fuzz/support/check_message.hpp"
#include "tests/fuzz/support/folder_input.hpp"
#include "tests/fuzz/support/json_mutator.hpp"
#include "tests/fuzz/support/section_check.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return embert::fuzz::mutate_json(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace embert;
  const test::TempFolder folder;
  if (!fuzz::write_folder(data, size, folder)) return 0;
  try {
    std::vector<std::string> warnings;
    const auto spec = convert::read_tokenizer(folder.path(), warnings);
    if (spec) fuzz::check_section_of(*spec);
  } catch (const convert::ConvertError& error) {
    fuzz::check_message(error.what());
  }
  return 0;
}
