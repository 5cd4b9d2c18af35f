// SPDX-License-Identifier: Apache-2.0
// Multi-head attention (Vaswani et al. 2017, section 3.2.2): parallel regions that leave the
// contexts of all heads in the arena. The tasks share the (text, head) pairs.
#pragma once

#include "runtime/engine/run.hpp"

namespace embert {

/// The rows that a layer's dense layer `qkv` reads, and where `value` is not null what makes the
/// values in its place. Offsets are those of s16 [tokens][width] in the arena.
struct AttentionRows {
  uint64_t rows;
  size_t width;
  uint64_t value_rows;
  size_t value_width;
  const Dense* value;  ///< columns: N(D) an attention head
};

/// Each text attends itself: the tokens of this call and those in a decoder's cache.
void self_attention(const Run& run, const Layer& layer, Queries queries, const AttentionRows& in);
/// Each text attends the encoder states of its source.
void cross_attention(const Run& run, const Layer& layer, Queries queries);

/// The states of one source: s16 [length][cross_hidden_size] with the scale that the last stack
/// reads.
struct SourceStates {
  size_t source;
  const int16_t* rows;
  size_t length;
};
/// Writes a layer's keys and values of a source to the source cache. The layer belongs to the last
/// stack; `buffers` gives the scratch.
void project_source(const Buffers& buffers, const Layer& layer, const SourceStates& states);

}  // namespace embert
