// SPDX-License-Identifier: Apache-2.0
#include "converter/files/foreign_format.hpp"

namespace embert::convert {
namespace {

/// ModelProto of onnx.proto: field 1, the version of the format, a small number; then the key of a
/// field from 2 (producer_name) to 8 (opset_import).
bool begins_as_onnx(std::string_view beginning) {
  if (beginning.size() < 3 || beginning[0] != '\x08') return false;
  const char version = beginning[1];
  return version >= 1 && version <= 20 &&
         std::string_view("\x12\x1a\x22\x28\x32\x3a\x42").find(beginning[2]) !=
             std::string_view::npos;
}

constexpr const char* kGiveTheFolder =
    "; give the Hugging Face folder that it was made from, with config.json, model.safetensors and "
    "a tokenizer";

}  // namespace

bool begins_as_safetensors(std::string_view beginning) {
  return beginning.size() > 8 && beginning[8] == '{' &&
         beginning.substr(5, 3).find_first_not_of('\0') == std::string_view::npos;
}

std::string foreign_format(std::string_view beginning) {
  if (begins_as_safetensors(beginning)) {
    return "is a safetensors file; `embert convert` takes the folder that holds it";
  }
  const char* name = nullptr;
  if (beginning.starts_with("GGUF")) name = "GGUF (llama.cpp)";
  if (begins_as_onnx(beginning)) name = "ONNX";
  if (beginning.starts_with("PK\x03\x04") || beginning.starts_with("\x80\x02")) name = "PyTorch";
  if (beginning.starts_with("\x89HDF")) name = "HDF5 (TensorFlow)";
  return name != nullptr ? std::string("is a file of ") + name + kGiveTheFolder : "";
}

}  // namespace embert::convert
