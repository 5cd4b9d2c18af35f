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

/// A name in a model's file that leads to another file must stay in the folder: no absolute path,
/// no "..". Throws ConvertError with `where` in front.
void check_inner_path(const std::string& path, const std::string& where);

class WeightFiles {
 public:
  /// Opens and checks all files. Throws ConvertError; a folder with only pickled or other weights
  /// gets a hint.
  explicit WeightFiles(const std::filesystem::path& folder);

  /// Null when there is no such tensor.
  const TensorInfo* find(std::string_view name) const;
  /// The values as float32; the tensor must exist.
  std::vector<float> read_float(std::string_view name) const;
  /// The file that holds the tensor, for messages; the first file where there is no such tensor.
  const std::string& file_of(std::string_view name) const;
  /// All names in rising order.
  std::vector<std::string> names() const;

 private:
  void open_shards(const std::filesystem::path& folder);

  std::vector<SafetensorsFile> files_;
  std::map<std::string, std::size_t, std::less<>> file_of_;  // tensor -> index into files_
};

}  // namespace embert::convert
