// SPDX-License-Identifier: Apache-2.0
// The part of a config that says which heads stand on a model: the architecture, and the labels and
// problem type that go with it.
#pragma once

#include <string>
#include <vector>

#include "converter/import/json_file.hpp"
#include "converter/model/model_config.hpp"

namespace embert::convert {

/// "architectures", empty when there is none. Throws ConvertError.
std::vector<std::string> read_architectures(const JsonFields& config);

/// Sets the heads of `out` that the first architecture has; an unknown one gets a warning and no
/// head. Throws ConvertError.
void read_head_config(const JsonFields& config, ModelConfig& out,
                      std::vector<std::string>& warnings);

}  // namespace embert::convert
