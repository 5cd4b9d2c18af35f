// SPDX-License-Identifier: Apache-2.0
// The inputs of a call of the reference data as the reference ran it: every row of a padded batch
// counts as a token, and masks are given as masks.
#pragma once

#include <string>

#include "converter/import/config/read_config.hpp"
#include "converter/reference/token_batch.hpp"
#include "tests/golden/golden_case.hpp"

namespace embert::test {

struct GoldenCall {
  convert::TokenBatch batch;   ///< of the only stack; of a pair, its encoder's
  convert::TokenBatch target;  ///< of a pair's decoder, without texts where the call has none
};

/// ids, segments, positions, embeddings, masks and encoder states of `call`. For calls that decode
/// step by step ids are prompt_ids, and behind them step_ids where there are any.
GoldenCall read_golden_call(const GoldenCase& golden, const std::string& call,
                            const convert::ModelConfig& config);

}  // namespace embert::test
