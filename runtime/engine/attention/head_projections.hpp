// SPDX-License-Identifier: Apache-2.0
// Queries, keys and values of one attention head (Vaswani et al. 2017, section 3.2.2).
#pragma once

#include "runtime/engine/attention/kv_cache.hpp"
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

/// An attention head over one text, and the task that computes it.
struct HeadTask {
  const TextRows& text;
  size_t head;
  size_t task;
};

static inline Requantize from_column(Requantize factor, size_t column) {
  factor.multiplier += column;
  return factor;
}

/// Queries, keys and values of one head over one text. Queries go into the task's scratch.
void project_self(const Run& run, const Layer& layer, const AttentionRows& in, const HeadTask& at,
                  const KvView& kv);
/// Queries of one head for cross-attention, into the task's scratch.
void project_cross_query(const Run& run, const Layer& layer, const HeadTask& at);

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
