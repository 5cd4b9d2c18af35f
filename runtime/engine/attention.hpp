// SPDX-License-Identifier: Apache-2.0
// Multi-head attention (Vaswani et al. 2017, section 3.2.2): the parallel regions that leave all
// heads' contexts in the arena. The (text, head) pairs are shared out over the tasks.
#pragma once

#include "runtime/engine/run.hpp"

namespace embert {

/// Each text attends itself, and what a decoder's cache holds of it.
void self_attention(const Pass& pass, size_t task);
/// Each text attends its source.
void cross_attention(const Pass& pass, size_t task);

/// Keys and values of a layer for tokens of one source: states s16 [length][cross_hidden_size] in
/// the step that the stack reads. pass.layer is the layer; scratch is that of task 0 of `at`.
void project_source(const Pass& pass, size_t source, const int16_t* states, size_t length);

}  // namespace embert
