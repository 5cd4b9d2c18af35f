// SPDX-License-Identifier: Apache-2.0
// The part of a config that describes one stack of layers: sizes with their ranges, and the options
// of its family. Combinations of options that no kernel computes are refused.
#pragma once

#include <string>
#include <vector>

#include "converter/import/families/family.hpp"
#include "converter/import/json_file.hpp"
#include "converter/model/model_config.hpp"

namespace embert::convert {

/// Reads one stack of `family` from `config`. Throws ConvertError.
StackConfig read_stack_config(const JsonFields& config, const Family& family,
                              std::vector<std::string>& warnings);

}  // namespace embert::convert
