// SPDX-License-Identifier: Apache-2.0
// The part of a config that describes one stack of layers: sizes with their ranges, and the options
// of the family. Combinations of options that nothing computes are refused here.
#pragma once

#include <string>
#include <vector>

#include "converter/import/json_file.hpp"
#include "converter/model/model_config.hpp"

namespace embert::convert {

/// Throws ConvertError: `option` of the config in `file` is not computed; `supported` is what to
/// do.
[[noreturn]] void refuse_option(const std::string& file, const std::string& option,
                                const std::string& supported);

/// Reads one stack out of `config`, whose name stands in messages. Throws ConvertError.
StackConfig read_stack_config(const JsonFields& config, std::vector<std::string>& warnings);

}  // namespace embert::convert
