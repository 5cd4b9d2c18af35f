// SPDX-License-Identifier: Apache-2.0
// Reads config.json of a BERT model. Options of the family that embert does not compute are refused
// by name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "converter/model/model_config.hpp"

namespace embert::convert {

/// Reads `folder`/config.json. Appends to `warnings` a line for each oddity that is no error.
/// Throws ConvertError.
ModelConfig read_config(const std::filesystem::path& folder, std::vector<std::string>& warnings);

/// As config.json spells it: "gelu".
const char* hidden_act_name(HiddenAct act);

}  // namespace embert::convert
