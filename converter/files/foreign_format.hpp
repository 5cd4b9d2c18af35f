// SPDX-License-Identifier: Apache-2.0
// Files of other formats that people give in place of a Hugging Face folder, a safetensors file or
// a model of embert, known by their first bytes.
#pragma once

#include <string>
#include <string_view>

namespace embert::convert {

/// Names the format of a file that begins so and the thing to give instead, as the rest of a
/// message behind "FILE: ".
/// Empty if the format is not one of these: GGUF, ONNX, PyTorch, HDF5 (TensorFlow), safetensors.
std::string foreign_format(std::string_view beginning);

/// Whether a file begins as safetensors do: the length of a header, then the header's JSON.
bool begins_as_safetensors(std::string_view beginning);

}  // namespace embert::convert
