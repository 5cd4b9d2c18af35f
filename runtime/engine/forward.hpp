// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/engine/run.hpp"

namespace embert {

/// Runs the texts of a checked input through a stack. Writes hidden states and attention
/// probabilities where output asks for them. Afterwards the last hidden state s16 [tokens][H] is in
/// plan.normalized; with first_only it is [batch][H], the first token of each text.
Run run_stack(Engine& engine, size_t stack, const embert_input& input, const embert_output& output,
              bool first_only);

}  // namespace embert
