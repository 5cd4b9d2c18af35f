// SPDX-License-Identifier: Apache-2.0
// The inputs of a call of the reference data, for the float model: every row of a padded batch is a
// token, and masks stay masks.
#pragma once

#include <string>

#include "converter/model/model_config.hpp"
#include "converter/model/token_batch.hpp"
#include "tests/golden/golden_case.hpp"

namespace embert::test {

struct GoldenCall {
  convert::TokenBatch batch;   ///< input of the only stack, or of the encoder
  convert::TokenBatch target;  ///< input of the decoder that reads an encoder; may have no texts
};

/// ids, segments, positions, embeddings, masks and encoder states of `call`. The ids of calls that
/// decode step by step are prompt_ids followed by step_ids, if the call has these.
GoldenCall read_golden_call(const GoldenCase& golden, const std::string& call,
                            const convert::ModelConfig& config);

}  // namespace embert::test
