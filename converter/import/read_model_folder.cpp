// SPDX-License-Identifier: Apache-2.0
// Calls the readers, and checks the rules that involve more than one file.
#include "converter/import/read_model_folder.hpp"

#include <limits>
#include <system_error>

#include "converter/convert_error.hpp"
#include "converter/files/foreign_format.hpp"
#include "converter/files/read_file.hpp"
#include "converter/import/config/read_config.hpp"
#include "converter/import/config/read_pooling.hpp"
#include "converter/import/config/read_prompts.hpp"
#include "converter/import/read_static_embeddings.hpp"
#include "converter/import/weights/read_weights.hpp"
#include "converter/import/weights/weight_files.hpp"

namespace embert::convert {
namespace {

void check_vector_sizes(const PoolingConfig& pooling, int hidden_size) {
  if (pooling.pooled_size != 0 && pooling.pooled_size != hidden_size) {
    throw ConvertError(pooling.pooling_file + ": the size of a vector is " +
                       std::to_string(pooling.pooled_size) +
                       ", but hidden_size in config.json is " + std::to_string(hidden_size));
  }
  std::size_t size = pooling.kinds.size() * static_cast<std::size_t>(hidden_size);
  if (size > kMaxVectorSize) {
    throw ConvertError(pooling.pooling_file + ": " + std::to_string(pooling.kinds.size()) +
                       " poolings of " + std::to_string(hidden_size) + " values side by side; at " +
                       "most " + std::to_string(kMaxVectorSize) + " values are supported");
  }
  for (const VectorDense& dense : pooling.dense) {
    if (dense.linear.weight.cols != size) {
      throw ConvertError(dense.name + "/config.json: in_features is " +
                         std::to_string(dense.linear.weight.cols) +
                         ", but the modules before it give " + std::to_string(size) + " values");
    }
    size = dense.linear.weight.rows;
  }
}

}  // namespace

ModelFolder read_model_folder(const std::filesystem::path& folder) {
  std::error_code error;
  const auto type = std::filesystem::status(folder, error).type();
  if (type == std::filesystem::file_type::regular) {
    const std::string name = printable(folder.string(), 400);
    const OpenFile file(folder, name, std::numeric_limits<std::uint64_t>::max());
    const std::string format = foreign_format(file.beginning());
    throw ConvertError(name + ": " +
                       (!format.empty()
                            ? format
                            : "is a file; give the Hugging Face folder with config.json, "
                              "model.safetensors and a tokenizer"));
  }
  if (type == std::filesystem::file_type::none) {
    throw ConvertError(printable(folder.string(), 400) + ": cannot be read: " + error.message());
  }
  if (type != std::filesystem::file_type::directory) {
    throw ConvertError(
        printable(folder.string(), 400) +
        ": no such folder; expected a Hugging Face model folder with config.json and "
        "model.safetensors");
  }
  ModelFolder out;
  out.prompts = read_prompts(folder);
  if (is_model2vec_folder(folder)) {
    read_model2vec(folder, out);
    return out;
  }
  out.pooling = read_pooling(folder);
  out.transformer_folder =
      out.pooling.transformer_folder.empty() ? folder : folder / out.pooling.transformer_folder;
  if (out.pooling.is_static) {
    read_static_module(out);
    check_vector_sizes(out.pooling, out.config.last().hidden_size);
    return out;
  }
  out.config = read_config(out.transformer_folder, out.warnings);
  const int hidden_size = out.config.last().hidden_size;
  check_vector_sizes(out.pooling, hidden_size);
  const WeightFiles files(out.transformer_folder);
  out.weights = read_weights(files, out.config, out.warnings);
  return out;
}

}  // namespace embert::convert
