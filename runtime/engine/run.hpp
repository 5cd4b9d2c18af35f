// SPDX-License-Identifier: Apache-2.0
// One pass of texts through a stack: what the tasks of its parallel regions share. Tasks own whole
// rows or heads, so the number of threads changes no bit.
#pragma once

#include "runtime/engine/engine.hpp"

namespace embert {

/// The rows of one text.
struct TextRows {
  size_t text;
  size_t begin;    ///< first row in the residual
  size_t length;   ///< tokens of this call
  size_t past;     ///< tokens in the cache before it
  size_t queries;  ///< the first tokens that attend: all, or 1
};

struct Pass {
  Engine& engine;
  const embert_input& input;
  const embert_output& output;
  Stack stack = {};
  Plan plan = {};
  size_t tokens = 0;  ///< of all texts
  bool causal = false;
  bool first_only = false;  ///< of the last layer, only each text's first token is wanted
  // of the layer that is running
  size_t layer_index = 0;
  Layer layer = {};
  Norm next_norm = {};               ///< makes the next layer's input, or the last hidden state
  ChannelRescale next_rescale = {};  ///< and that as a hidden state
  size_t rows = 0;        ///< rows of the residual that are computed: all tokens, or one a text
  bool gathered = false;  ///< one a text, at the front

  size_t hidden_size() const { return stack.config->hidden_size; }
  size_t head_size() const { return stack.config->head_size; }
  template <typename T>
  T* at(uint64_t offset) const {
    return engine.at<T>(offset);
  }
  /// A buffer in the scratch of a task.
  template <typename T>
  T* scratch(size_t task, uint64_t offset) const {
    return engine.at<T>(plan.scratch + task * plan.scratch_bytes + offset);
  }
  /// Only the last layer of a pass with first_only has fewer queries than tokens.
  bool is_pruned() const { return first_only && layer_index + 1 == stack.config->num_layers; }
};

Pass make_pass(Engine& engine, size_t stack, const embert_input& input,
               const embert_output& output);
/// For what needs only the places in the arena, without texts.
Pass make_pass(Engine& engine, size_t stack);

/// Rows of the texts, one after the other.
TextRows first_text(const Pass& pass);
TextRows next_text(const Pass& pass, const TextRows& text);

struct Rows {
  size_t begin, end;
};
/// The rows of a task: equal shares, in steps of 8 rows so that GEMM tiles stay full.
Rows task_rows(const Pass& pass, size_t task);

static inline size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/// Runs task(pass, i) for i in 0 .. threads-1.
void parallel(const Pass& pass, void (*task)(const Pass& pass, size_t task));

}  // namespace embert
