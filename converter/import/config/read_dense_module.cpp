// SPDX-License-Identifier: Apache-2.0
#include "converter/import/config/read_dense_module.hpp"

#include "converter/convert_error.hpp"
#include "converter/import/json_file.hpp"
#include "converter/import/weights/tensor_picker.hpp"
#include "converter/import/weights/weight_files.hpp"

namespace embert::convert {
namespace {

// config.json names a Python class, which sentence-transformers takes from torch alone.
std::optional<HiddenAct> read_activation(const JsonFields& fields) {
  const std::string type =
      fields.get_string("activation_function", "torch.nn.modules.activation.Tanh");
  const std::string name = type.substr(type.rfind('.') + 1);
  if (type.starts_with("torch.")) {
    if (name == "Identity") return std::nullopt;
    if (name == "Tanh") return HiddenAct::kTanh;
    if (name == "ReLU") return HiddenAct::kRelu;
    if (name == "GELU") return HiddenAct::kGelu;
    if (name == "SiLU") return HiddenAct::kSilu;
  }
  throw ConvertError(fields.file() + ": activation_function \"" + printable(type) +
                     "\" is not supported; torch's Tanh, Identity, ReLU, GELU and SiLU are");
}

// A Dense module can also read token vectors, as late interaction models do.
void require_vector(const JsonFields& fields, const char* key) {
  const std::string value = fields.get_string(key, "sentence_embedding");
  if (value == "sentence_embedding") return;
  throw ConvertError(fields.file() + ": " + key + " \"" + printable(value) +
                     "\" is not supported; only sentence_embedding is");
}

}  // namespace

VectorDense read_dense_module(const std::filesystem::path& folder, const std::string& path) {
  const std::string file = path + "/config.json";
  const Json document = read_json_file(folder / path / "config.json", file);
  const JsonFields fields(document, file);
  require_vector(fields, "module_input_name");
  require_vector(fields, "module_output_name");
  const int inputs = static_cast<int>(fields.get_int("in_features", 1, kMaxVectorSize));
  const int outputs = static_cast<int>(fields.get_int("out_features", 1, kMaxVectorSize));
  const bool bias = fields.get_bool("bias", true);
  VectorDense out{
      .linear = {}, .activation = read_activation(fields), .normalize_input = false, .name = path};
  try {
    const std::string other = "pytorch_model.bin";
    if (!file_exists(folder / path / "model.safetensors") && file_exists(folder / path / other)) {
      throw ConvertError(other + ": only safetensors weights are read; " +
                         safetensors_remedy(folder, other));
    }
    const WeightFiles files(folder / path);
    TensorPicker tensors(files);
    out.linear.weight = tensors.matrix("linear.weight", outputs, inputs);
    if (bias) {
      out.linear.bias = tensors.vector("linear.bias", outputs);
    } else {
      out.linear.bias.resize(static_cast<std::size_t>(outputs));
    }
    if (const std::vector<std::string> rest = tensors.left_over(); !rest.empty()) {
      throw ConvertError(files.file_of(rest[0]) + ": tensor \"" + printable(rest[0]) +
                         "\" is not one of a Dense module with bias " + (bias ? "true" : "false"));
    }
  } catch (const ConvertError& error) {
    throw ConvertError(path + "/" + error.what());
  }
  return out;
}

}  // namespace embert::convert
