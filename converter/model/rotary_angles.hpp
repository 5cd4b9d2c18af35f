// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "converter/model/matrix.hpp"
#include "converter/model/model_config.hpp"

namespace embert::convert {

/// [P, D]: for each position p D/2 cosines, then D/2 sines of p * theta^(-2 i / D), where P is
/// max_position_embeddings (Su et al. 2021, equations 15 and 34).
Matrix rotary_angles(const StackConfig& config, double theta);

}  // namespace embert::convert
