// SPDX-License-Identifier: Apache-2.0
// A Dense module of sentence-transformers: a dense layer behind pooling.
#pragma once

#include <filesystem>
#include <string>

#include "converter/model/pooling_config.hpp"

namespace embert::convert {

/// Reads config.json and model.safetensors of the module's folder `path` within `folder`. Throws
/// ConvertError.
VectorDense read_dense_module(const std::filesystem::path& folder, const std::string& path);

}  // namespace embert::convert
