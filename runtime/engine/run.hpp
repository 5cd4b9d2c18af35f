// SPDX-License-Identifier: Apache-2.0
// One run of texts through a stack. A Run does not change while it runs: what differs from layer to
// layer and from block to block is passed as an argument. A task computes whole rows or whole
// attention heads, so the number of threads changes no bit.
#pragma once

#include "runtime/engine/engine.hpp"

namespace embert {

/// The tokens of each text that a block computes. Pooler and classifier read the first token alone:
/// for them the last layer has one query a text, and what follows has one row a text.
enum class Queries { kAll, kFirst };

struct Run : Buffers {
  /// The input is checked. first_only: the caller wants nothing but each text's first token.
  Run(Engine& engine, size_t stack, const embert_input& input, const embert_output& output,
      bool first_only);

  const Stack stack;
  const embert_input& input;
  const embert_output& output;
  const size_t tokens;  ///< of all texts
  const bool causal;
  const bool first_only;

  size_t hidden_size() const { return stack.config->hidden_size; }
  size_t head_size() const { return stack.config->head_size; }
  size_t num_layers() const { return stack.config->num_layers; }
  Queries queries(size_t layer) const {
    return first_only && layer + 1 == num_layers() ? Queries::kFirst : Queries::kAll;
  }
};

/// 16-bit rows in the arena: the residual sum of all tokens, and its LayerNorm.
struct Stream {
  uint64_t residual;    ///< s16 [tokens][width]
  uint64_t normalized;  ///< s16 [tokens][width]; in post-norm the residual itself
  size_t width;
};
static inline Stream hidden_stream(const Run& run) {
  return {run.plan.residual, run.plan.normalized, run.hidden_size()};
}

/// Where the rows of one text are.
struct TextRows {
  size_t text;
  size_t begin;        ///< row of its first token among those of all texts
  size_t length;       ///< tokens of this call
  size_t past;         ///< tokens in the KV cache before them
  size_t queries;      ///< its first tokens that attend: all, or 1
  size_t first_query;  ///< row of its first query among those of all texts
};

/// The texts, one after the other: while (text.text < run.input.batch).
TextRows first_text(const Run& run, Queries queries);
TextRows next_text(const Run& run, Queries queries, const TextRows& text);

struct RowRange {
  size_t begin, end;
};
/// Rows cut into shares: `blocks` of kBlockRows rows, then the rest in `equal` ones, whose
/// sizes differ by at most 4 rows, the larger ones first.
struct RowShares {
  size_t rows, blocks, equal;
};
/// One share for each thread. Where several threads have two blocks of rows or more each, the first
/// shares are blocks, and the last ones half to a whole block, so that tasks that take them in turn
/// end together.
RowShares row_shares(size_t rows, size_t threads);
RowRange share_rows(const RowShares& shares, size_t share);

static inline size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/// Rows of the next block of `left` rows: all where at most `most` are left, else kBlockRows or
/// `most`, which is a multiple of 4 from 12 up. A block of one row takes as long as one of 4. So
/// where at most 4 rows would be left for the last block, the one before it takes about half of the
/// rows, at most 16 (two GEMM tiles of 8 rows) and a multiple of the 4 tokens that keys and values
/// are stored in: of at most 32, 33 rows are 16 and 17, not 32 and 1.
static inline size_t block_rows(size_t left, size_t most) {
  if (left <= most) return left;
  const size_t block = smaller(most, kBlockRows);
  return left > block + kStepInputs ? block : smaller(round_up((left + 1) / 2, kStepInputs), 16);
}

/// Runs task(argument, i) for i in 0 .. threads-1.
void run_tasks(const embert_options& options, void (*task)(void* argument, size_t i),
               void* argument);

/// Runs task(i) for i in 0 .. threads-1.
template <typename Task>
void parallel(const Run& run, Task task) {
  run_tasks(
      run.engine.options,
      [](void* argument, size_t i) { (*static_cast<const Task*>(argument))(i); }, &task);
}

/// The items of a parallel region. Task i begins with item i: its core may still hold these rows.
/// Then it takes the first item that no task has, so that a core that is slow or busy with other
/// work does less. On processors without atomic instructions it takes every threads-th item.
class Items {
 public:
  explicit Items(size_t threads) : threads_(threads), next_(threads) {}
  /// The next item of a task whose last one is `item`.
  size_t after(size_t item) {
    if constexpr (__atomic_always_lock_free(sizeof(size_t), nullptr)) {
      // One thread needs none, and on a microcontroller its stack may lie in memory without them.
      if (threads_ > 1) return __atomic_fetch_add(&next_, 1, __ATOMIC_RELAXED);
    }
    return item + threads_;
  }

 private:
  const size_t threads_;
  size_t next_;
};

/// Rows that a task computes.
struct TaskRows : RowRange {
  size_t task;
};
/// Runs visit(argument, rows) for all shares of the rows.
void visit_rows(const Run& run, Queries queries,
                void (*visit)(void* argument, const TaskRows& rows), void* argument);

/// Runs visit(rows) for all shares of the rows.
template <typename Visit>
void parallel_rows(const Run& run, Queries queries, Visit visit) {
  visit_rows(
      run, queries,
      [](void* argument, const TaskRows& rows) { (*static_cast<const Visit*>(argument))(rows); },
      &visit);
}

}  // namespace embert
