// SPDX-License-Identifier: Apache-2.0
// The part of a config that says which task heads a model has: the architecture, with its labels
// and problem type.
#pragma once

#include <string>
#include <vector>

#include "converter/import/families/family.hpp"
#include "converter/import/json_file.hpp"
#include "converter/model/model_config.hpp"

namespace embert::convert {

/// The field "architectures"; empty where it is absent. Throws ConvertError.
std::vector<std::string> read_architectures(const JsonFields& config);

/// Sets the task heads of `out` by the first architecture; an architecture that `family` does not
/// list gets a warning and no head. Throws ConvertError.
void read_head_config(const JsonFields& config, const Family& family, ModelConfig& out,
                      std::vector<std::string>& warnings);

}  // namespace embert::convert
