// SPDX-License-Identifier: Apache-2.0
// What callers give is checked here, and only here.
#pragma once

#include "runtime/engine/engine.hpp"

namespace embert {

static constexpr uint32_t kMaxBatch = 1024;

embert_status check_options(const BlobHeader& header, const embert_options& options);

/// Texts for a stack, which has room for max_tokens of each.
embert_status check_input(const Engine& engine, size_t stack, const embert_input& input);

/// Outputs that the model can give.
embert_status check_output(const BlobHeader& header, const embert_output& output);

}  // namespace embert
