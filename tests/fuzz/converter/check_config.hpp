// SPDX-License-Identifier: Apache-2.0
// The ranges that later stages of the converter rely on.
#pragma once

#include "converter/import/read_model_folder.hpp"
#include "converter/model/model_config.hpp"

namespace embert::fuzz {

/// Ends the program where a value of the config is out of its range.
void check_config(const convert::ModelConfig& config);

/// Ends the program where the weights do not have the sizes that the config says, or where the
/// modules behind pooling do not fit one another.
void check_weights(const convert::ModelFolder& folder);

}  // namespace embert::fuzz
