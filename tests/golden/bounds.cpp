// SPDX-License-Identifier: Apache-2.0
// The bounds of each output against float32, for all cases and for those with bounds of their own.
#include <stdexcept>

#include "tests/golden/agreement.hpp"

namespace embert::test {
namespace {

struct OutputBound {
  std::string_view output;
  Bound bound;
};

// The cosines are the goal. The other bounds leave room for one unlucky row in hundreds: with other
// calibration seeds they hold, too, but for single tensors.
constexpr Bound kHidden = {0.999, 0.98, 0.08, 0.04}, kAttention = {0.998, 0.97, 0.15, 0.15},
                kPooled = {0.999, 0.997, 0.15, 0.04}, kLogits = {0.998, 0.98, 0.12, 0.04};
constexpr OutputBound kBounds[] = {
    {"last_hidden_state", kHidden},
    {"hidden_states", kHidden},
    {"encoder_last_hidden_state", kHidden},
    {"encoder_hidden_states", kHidden},
    {"decoder_last_hidden_state", kHidden},
    {"decoder_hidden_states", kHidden},
    {"attentions", kAttention},
    {"encoder_attentions", kAttention},
    {"decoder_attentions", kAttention},
    {"cross_attentions", kAttention},
    {"pooler_output", kPooled},
    {"logits", kLogits},
    {"prediction_logits", kLogits},
    {"seq_relationship_logits", kLogits},
    {"start_logits", kLogits},
    {"end_logits", kLogits},
    {"prompt_logits", kLogits},
    {"step_logits", kLogits},
    {"full_logits", kLogits},
};

struct CaseBound {
  std::string_view golden_case, output;
  Bound bound;
  std::string_view reason;
};

constexpr CaseBound kCaseBounds[] = {
    {"pre_ln_encoder",
     "last_hidden_state",
     {0.999, 0.98, 0.12, 0.04},
     "the last LayerNorm multiplies the error of an outlier channel by 7"},
};

}  // namespace

Bound bound_of(std::string_view golden_case, std::string_view output) {
  for (const CaseBound& row : kCaseBounds) {
    if (row.golden_case == golden_case && row.output == output) return row.bound;
  }
  for (const OutputBound& row : kBounds) {
    if (row.output == output) return row.bound;
  }
  throw std::runtime_error("no bound for " + std::string(output));
}

}  // namespace embert::test
