// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/run.hpp"

namespace embert {
namespace {

size_t count_tokens(const embert_input& input) {
  size_t tokens = 0;
  for (size_t text = 0; text < input.batch; ++text) tokens += input.lengths[text];
  return tokens;
}

TextRows text_at(const Run& run, Queries queries, size_t text, size_t begin) {
  TextRows rows = {};
  rows.text = text;
  rows.begin = begin;
  if (text >= run.input.batch) return rows;
  rows.length = run.input.lengths[text];
  rows.past = run.causal ? run.at<uint32_t>(run.engine.plan.self.lengths)[text] : 0;
  rows.queries = queries == Queries::kFirst ? 1 : rows.length;
  rows.first_query = queries == Queries::kFirst ? text : begin;
  return rows;
}

}  // namespace

Run::Run(Engine& used_engine, size_t used_stack, const embert_input& given_input,
         const embert_output& wanted_output, bool only_first)
    : Buffers{used_engine, used_engine.plan.stacks[used_stack]},
      stack(model_stack(used_engine.model, used_stack)),
      input(given_input),
      output(wanted_output),
      tokens(count_tokens(given_input)),
      causal((stack.config->flags & kStackCausal) != 0),
      first_only(only_first) {}

TextRows first_text(const Run& run, Queries queries) { return text_at(run, queries, 0, 0); }

TextRows next_text(const Run& run, Queries queries, const TextRows& text) {
  return text_at(run, queries, text.text + 1, text.begin + text.length);
}

RowShares row_shares(size_t rows, size_t threads) {
  const size_t each = rows / (threads * kBlockRows);
  if (threads == 1 || each < 2) return {rows, 0, threads};
  return {rows, (each - 1) * threads, 2 * threads};
}

RowRange share_rows(const RowShares& shares, size_t share) {
  if (share < shares.blocks) return {share * kBlockRows, (share + 1) * kBlockRows};
  const size_t first = shares.blocks * kBlockRows, rest = shares.rows - first;
  const size_t least = rest / kStepInputs / shares.equal;
  const size_t larger = rest / kStepInputs % shares.equal;
  // The first of the smaller ones has the rows that are no whole step.
  const auto begin = [&](size_t i) {
    return first + (least * i + smaller(i, larger)) * kStepInputs +
           (i > larger ? rest % kStepInputs : 0);
  };
  return {begin(share - shares.blocks), begin(share - shares.blocks + 1)};
}

void visit_rows(const Run& run, Queries queries,
                void (*visit)(void* argument, const TaskRows& rows), void* argument) {
  const size_t rows = queries == Queries::kFirst ? run.input.batch : run.tokens;
  const RowShares shares = row_shares(rows, run.engine.options.threads);
  Items items(run.engine.options.threads);
  parallel(run, [&](size_t task) {
    for (size_t i = task; i < shares.blocks + shares.equal; i = items.after(i)) {
      visit(argument, {share_rows(shares, i), task});
    }
  });
}

void run_tasks(const embert_options& options, void (*task)(void* argument, size_t i),
               void* argument) {
  if (options.threads == 1) {
    task(argument, 0);
  } else {
    options.parallel_for(options.parallel_context, task, argument, options.threads);
  }
}

}  // namespace embert
