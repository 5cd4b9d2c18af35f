// SPDX-License-Identifier: Apache-2.0
// libFuzzer: a model folder (config.json, the modules of sentence-transformers, static embeddings,
// prompts, headers of safetensors files) is refused with a ConvertError, or its weights fit
// its config.
#include "converter/convert_error.hpp"
#include "converter/import/read_model_folder.hpp"
#include "tests/fuzz/converter/check_config.hpp"
#include "tests/fuzz/support/check_message.hpp"
#include "tests/fuzz/support/folder_input.hpp"
#include "tests/fuzz/support/json_mutator.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return embert::fuzz::mutate_json(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace embert;
  const test::TempFolder folder;
  if (!fuzz::write_folder(data, size, folder)) return 0;
  try {
    const convert::ModelFolder model = convert::read_model_folder(folder.path());
    if (!model.pooling.is_static) fuzz::check_config(model.config);
    fuzz::check_weights(model);
  } catch (const convert::ConvertError& error) {
    fuzz::check_message(error.what());
  }
  return 0;
}
