// SPDX-License-Identifier: Apache-2.0
// Checks of what callers pass to the engine. Nothing below checks again.
#pragma once

#include "runtime/engine/engine.hpp"

namespace embert {

static constexpr uint32_t kMaxBatch = 1024;

embert_status check_options(const BlobHeader& header, const embert_options& options);

/// Checks texts for a stack against the model's tables, the engine's room and a decoder's cache.
embert_status check_input(const Engine& engine, size_t stack, const embert_input& input);

/// The same for static embeddings, whose texts may have no token. NO_ENCODER for what only layers
/// read: masks, positions, embeddings.
embert_status check_static_input(const Engine& engine, const embert_input& input);

/// Refuses outputs that the model does not have.
embert_status check_output(const BlobHeader& header, const embert_output& output);

}  // namespace embert
