// SPDX-License-Identifier: Apache-2.0
// Takes tensors from a model's files by name, checks their shape, type and values, and remembers
// which ones it took.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "converter/model/model_weights.hpp"

namespace embert::convert {

class WeightFiles;

/// Names are those of the file. vector() to layer_norm() throw ConvertError for a tensor that is
/// missing, has another shape or type, or holds a value that is not finite.
class TensorPicker {
 public:
  explicit TensorPicker(const WeightFiles& files) : files_(files) {}

  bool has(const std::string& name) const;

  std::vector<float> vector(const std::string& name, int size);
  Matrix matrix(const std::string& name, int rows, int cols);
  /// The tensors name.weight and name.bias; without has_bias zeros stand in for the bias.
  Linear linear(const std::string& name, int outputs, int inputs, bool has_bias = true);
  /// The tensors name.weight and name.bias, or name.gamma and name.beta as in old files; without
  /// has_bias zeros stand in for the bias.
  LayerNorm layer_norm(const std::string& name, int size, bool has_bias = true);

  /// Skips a tensor that repeats `original`, if it is in the file. Throws ConvertError where the
  /// values differ.
  void skip_copy(const std::string& name, const std::vector<float>& original,
                 const std::string& original_name);
  /// Skips a tensor that embert does not use, if it is in the file.
  void skip(const std::string& name) { taken_.insert(name); }

  /// Names of the tensors that were neither taken nor skipped, in rising order.
  std::vector<std::string> left_over() const;

 private:
  std::vector<float> take(const std::string& name, const std::string& old_name,
                          std::initializer_list<int> shape);

  const WeightFiles& files_;
  std::set<std::string> taken_;
};

}  // namespace embert::convert
