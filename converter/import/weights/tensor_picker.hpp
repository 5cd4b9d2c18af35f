// SPDX-License-Identifier: Apache-2.0
// Takes tensors out of a model's files by name, checked for shape, type and values, and remembers
// which it took.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "converter/import/weights/weight_files.hpp"
#include "converter/model/model_weights.hpp"

namespace embert::convert {

/// Names are those of the file. Everything that takes throws ConvertError for a tensor that is
/// missing, has another shape or type, or holds a value that is not finite.
class TensorPicker {
 public:
  explicit TensorPicker(const WeightFiles& files) : files_(files) {}

  bool has(const std::string& name) const { return files_.find(name) != nullptr; }

  std::vector<float> vector(const std::string& name, int size);
  Matrix matrix(const std::string& name, int rows, int cols);
  /// name.weight and name.bias.
  Linear linear(const std::string& name, int outputs, int inputs);
  /// name.weight and name.bias, or gamma and beta as old files have it.
  LayerNorm layer_norm(const std::string& name, int size);

  /// A tensor that may be in the file beside the one it equals. Throws where it does not.
  void skip_copy(const std::string& name, const std::vector<float>& original,
                 const std::string& original_name);
  /// A tensor that may be in the file and has no use.
  void skip(const std::string& name) { taken_.insert(name); }

  /// Names of tensors that were neither taken nor skipped, in rising order.
  std::vector<std::string> left_over() const;

 private:
  std::vector<float> take(const std::string& name, const std::string& old_name,
                          std::initializer_list<int> shape);

  const WeightFiles& files_;
  std::set<std::string> taken_;
};

}  // namespace embert::convert
