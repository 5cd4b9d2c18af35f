// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/engine/run.hpp"

namespace embert {

/// residual = embeddings of a task's rows: the sum of word, position and segment, or its projection
/// to the hidden size.
void embed_rows(const Run& run, size_t task, RowRange rows);

}  // namespace embert
