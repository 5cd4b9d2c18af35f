// SPDX-License-Identifier: Apache-2.0
// Calls the readers, and checks the rules that involve more than one file.
#include "converter/import/read_model_folder.hpp"

#include <system_error>

#include "converter/convert_error.hpp"
#include "converter/import/config/read_config.hpp"
#include "converter/import/config/read_pooling.hpp"
#include "converter/import/config/read_prompts.hpp"
#include "converter/import/weights/read_weights.hpp"
#include "converter/import/weights/weight_files.hpp"

namespace embert::convert {

ModelFolder read_model_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    throw ConvertError(
        printable(folder.string(), 400) +
        ": no such folder; expected a Hugging Face model folder with config.json and "
        "model.safetensors");
  }
  ModelFolder out;
  out.pooling = read_pooling(folder);
  out.prompts = read_prompts(folder);
  out.transformer_folder =
      out.pooling.transformer_folder.empty() ? folder : folder / out.pooling.transformer_folder;
  out.config = read_config(out.transformer_folder, out.warnings);
  const int hidden_size = out.config.last().hidden_size;
  if (out.pooling.vector_size != 0 && out.pooling.vector_size != hidden_size) {
    throw ConvertError(out.pooling.pooling_file + ": the size of a vector is " +
                       std::to_string(out.pooling.vector_size) +
                       ", but hidden_size in config.json is " + std::to_string(hidden_size));
  }
  const WeightFiles files(out.transformer_folder);
  out.weights = read_weights(files, out.config, out.warnings);
  return out;
}

}  // namespace embert::convert
