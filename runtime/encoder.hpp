// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/engine.hpp"

namespace embert {

/// The encoder (Devlin et al. 2018, section 3; Vaswani et al. 2017, section 3.1) over texts that
/// were checked. Afterwards the residual buffer holds the last hidden state, s16 [sum of
/// lengths][H].
void encode(Engine& engine, const embert_input& input);

}  // namespace embert
