// SPDX-License-Identifier: Apache-2.0
// The part of a config that describes one stack of layers: sizes with their ranges, and the options
// of the BERT family. Combinations of options that no kernel computes are refused.
#pragma once

#include <string>
#include <vector>

#include "converter/import/json_file.hpp"
#include "converter/model/model_config.hpp"

namespace embert::convert {

/// Throws ConvertError: `option` of the config in `file` is not supported; `supported` says what
/// is.
[[noreturn]] void refuse_option(const std::string& file, const std::string& option,
                                const std::string& supported);

/// Reads one stack from `config`. Throws ConvertError.
StackConfig read_stack_config(const JsonFields& config, std::vector<std::string>& warnings);

}  // namespace embert::convert
