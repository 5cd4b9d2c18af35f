// SPDX-License-Identifier: Apache-2.0
// Multi-head attention (Vaswani et al. 2017, section 3.2.2): parallel regions that leave the
// contexts of all heads in the arena. The tasks share the (text, head) pairs.
#pragma once

#include "runtime/engine/run.hpp"

namespace embert {

struct AttentionRows;

/// Each text attends itself: the tokens of this call and those in a decoder's cache.
void self_attention(const Run& run, const Layer& layer, Queries queries, const AttentionRows& in);
/// Each text attends the encoder states of its source.
void cross_attention(const Run& run, const Layer& layer, Queries queries);

}  // namespace embert
