// SPDX-License-Identifier: Apache-2.0
// The formulas of a stack once more, in double precision and without regard for speed. Tests
// compare the float model with them where there is no reference data.
#pragma once

#include <cstdint>
#include <vector>

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"

namespace embert::test {

using Rows = std::vector<std::vector<double>>;

/// One text. Optional members are empty where they are absent.
struct ReferenceText {
  std::vector<std::int32_t> ids, type_ids;
  std::vector<std::int32_t> position_ids;        ///< optional
  Rows embeddings;                               ///< optional, replaces word embeddings
  std::vector<std::vector<bool>> hidden;         ///< optional [query][key]
  std::vector<double> head_mask;                 ///< optional [layers * heads]
  Rows source;                                   ///< encoder states
  std::vector<std::vector<bool>> source_hidden;  ///< optional [query][source token]
};

struct ReferenceOutput {
  std::vector<Rows> hidden_states;                  ///< [layers + 1]
  std::vector<std::vector<Rows>> attentions;        ///< [layers][heads][query][key]
  std::vector<std::vector<Rows>> cross_attentions;  ///< [layers][heads][query][source token]
  Rows last_hidden_state;
};

ReferenceOutput reference_stack(const convert::StackConfig& config,
                                const convert::StackWeights& weights, const ReferenceText& text);

/// weight x + bias for every row x.
Rows reference_linear(const Rows& in, const convert::Linear& layer);
Rows reference_norm(const Rows& in, const convert::LayerNorm& norm, double eps);
double reference_act(convert::HiddenAct act, double x);

}  // namespace embert::test
