// SPDX-License-Identifier: Apache-2.0
// libFuzzer: a config.json of any family is refused with a ConvertError, or its values are in
// the ranges that the converter relies on.
#include "converter/import/config/read_config.hpp"

#include "converter/convert_error.hpp"
#include "tests/fuzz/converter/check_config.hpp"
#include "tests/fuzz/support/check_message.hpp"
#include "tests/fuzz/support/json_mutator.hpp"
#include "tests/support/model_folder.hpp"

using namespace embert;

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_json(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const test::TempFolder folder;
  folder.write("config.json", {reinterpret_cast<const char*>(data), size});
  try {
    std::vector<std::string> warnings;
    fuzz::check_config(convert::read_config(folder.path(), warnings));
  } catch (const convert::ConvertError& error) {
    fuzz::check_message(error.what());
  }
  return 0;
}
