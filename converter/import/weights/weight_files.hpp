// SPDX-License-Identifier: Apache-2.0
// The weights of a model folder as one set of named tensors: model.safetensors, or the shards that
// model.safetensors.index.json lists.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "converter/import/weights/safetensors_file.hpp"

namespace embert::convert {

/// Checks a path that a file of the model names: it must stay in the model folder (not absolute, no
/// ".."). Throws ConvertError with `where` in front.
void check_inner_path(const std::string& path, const std::string& where);

/// For messages: how to get safetensors of a model folder whose weights are in `other`, into
/// another folder. Saved into the same one, config.json would lose what the class does not know.
std::string safetensors_remedy(const std::filesystem::path& folder, const std::string& other);

class WeightFiles {
 public:
  /// Opens and checks all files. Throws ConvertError; for a folder with weights of another format
  /// only, the message says how to convert them.
  explicit WeightFiles(const std::filesystem::path& folder);

  /// Null where there is no such tensor.
  const TensorInfo* find(std::string_view name) const;
  /// The values as float32; the tensor must exist.
  std::vector<float> read_float(std::string_view name) const;
  /// For messages: the file that holds the tensor, or the first file where there is no such tensor.
  const std::string& file_of(std::string_view name) const;
  /// All names in rising order.
  std::vector<std::string> names() const;

 private:
  void open_shards(const std::filesystem::path& folder);

  std::vector<SafetensorsFile> files_;
  std::map<std::string, std::size_t, std::less<>> file_of_;  // tensor -> index into files_
};

}  // namespace embert::convert
