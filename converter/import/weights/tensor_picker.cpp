// SPDX-License-Identifier: Apache-2.0
#include "converter/import/weights/tensor_picker.hpp"

#include <algorithm>
#include <cmath>

#include "converter/convert_error.hpp"
#include "converter/import/weights/weight_files.hpp"

namespace embert::convert {

bool TensorPicker::has(const std::string& name) const { return files_.find(name) != nullptr; }

std::vector<float> TensorPicker::vector(const std::string& name, int size) {
  return take(name, {}, {size});
}

Matrix TensorPicker::matrix(const std::string& name, int rows, int cols) {
  return {static_cast<std::size_t>(rows), static_cast<std::size_t>(cols),
          take(name, {}, {rows, cols})};
}

Linear TensorPicker::linear(const std::string& name, int outputs, int inputs, bool has_bias) {
  Linear out;
  out.weight = matrix(name + ".weight", outputs, inputs);
  out.bias.resize(out.weight.rows);
  if (has_bias) out.bias = vector(name + ".bias", outputs);
  return out;
}

LayerNorm TensorPicker::layer_norm(const std::string& name, int size, bool has_bias) {
  LayerNorm out;
  out.gamma = take(name + ".weight", name + ".gamma", {size});
  out.beta.resize(out.gamma.size());
  if (has_bias) out.beta = take(name + ".bias", name + ".beta", {size});
  return out;
}

void TensorPicker::skip_copy(const std::string& name, const std::vector<float>& original,
                             const std::string& original_name) {
  if (!has(name)) return;
  if (files_.read_float(name) != original) {
    throw ConvertError(files_.file_of(name) + ": tensor \"" + name + "\" differs from \"" +
                       original_name +
                       "\", but by config.json they are one; if both count, set "
                       "tie_word_embeddings to false there");
  }
  skip(name);
}

std::vector<std::string> TensorPicker::left_over() const {
  std::vector<std::string> names = files_.names();
  std::erase_if(names, [&](const std::string& name) { return taken_.contains(name); });
  return names;
}

std::vector<float> TensorPicker::take(const std::string& name, const std::string& old_name,
                                      std::initializer_list<int> shape) {
  const std::string* found = &name;
  const TensorInfo* info = files_.find(name);
  if (info == nullptr && !old_name.empty()) {
    found = &old_name;
    info = files_.find(old_name);
  }
  std::vector<std::uint64_t> expected;
  for (const int extent : shape) expected.push_back(static_cast<std::uint64_t>(extent));
  const std::string where = files_.file_of(*found) + ": tensor \"";
  if (info == nullptr) {
    throw ConvertError(where + name + "\" " + shape_text(expected) +
                       " is missing; is this the folder of a complete model?");
  }
  if (info->shape != expected) {
    throw ConvertError(where + *found + "\" must have shape " + shape_text(expected) +
                       " by config.json, found " + shape_text(info->shape));
  }
  std::vector<float> values = files_.read_float(*found);
  const auto bad = std::ranges::find_if(values, [](float x) { return !std::isfinite(x); });
  if (bad != values.end()) {
    throw ConvertError(where + *found + "\" holds " + std::to_string(*bad) + " at index " +
                       std::to_string(bad - values.begin()) + "; weights must be finite");
  }
  taken_.insert(*found);
  return values;
}

}  // namespace embert::convert
