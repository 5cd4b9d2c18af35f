// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/run.hpp"

namespace embert {
namespace {

TextRows text_at(const Pass& pass, size_t text, size_t begin) {
  if (text >= pass.input.batch) return {text, begin, 0, 0, 0};
  const size_t length = pass.input.lengths[text];
  const size_t past = pass.causal ? pass.at<uint32_t>(pass.plan.cache.lengths)[text] : 0;
  return {text, begin, length, past, pass.is_pruned() ? 1 : length};
}

constexpr embert_input kNoInput = {};
constexpr embert_output kNoOutput = {};

struct Region {
  const Pass& pass;
  void (*task)(const Pass& pass, size_t task);
};

void run_task(void* argument, size_t index) {
  const Region& region = *static_cast<const Region*>(argument);
  region.task(region.pass, index);
}

}  // namespace

Pass make_pass(Engine& engine, size_t stack, const embert_input& input,
               const embert_output& output) {
  Pass pass = {engine, input, output};
  pass.stack = model_stack(engine.model, stack);
  pass.plan = make_plan(*engine.model.header, stack, engine.options);
  pass.causal = (pass.stack.config->flags & kStackCausal) != 0;
  for (size_t text = 0; text < input.batch; ++text) pass.tokens += input.lengths[text];
  pass.rows = pass.tokens;
  return pass;
}

Pass make_pass(Engine& engine, size_t stack) {
  return make_pass(engine, stack, kNoInput, kNoOutput);
}

TextRows first_text(const Pass& pass) { return text_at(pass, 0, 0); }

TextRows next_text(const Pass& pass, const TextRows& text) {
  return text_at(pass, text.text + 1, text.begin + (pass.gathered ? 1 : text.length));
}

Rows task_rows(const Pass& pass, size_t task) {
  const size_t tiles = (pass.rows + 7) / 8, threads = pass.engine.options.threads;
  const size_t begin = tiles * task / threads * 8, end = tiles * (task + 1) / threads * 8;
  return {smaller(begin, pass.rows), smaller(end, pass.rows)};
}

void parallel(const Pass& pass, void (*task)(const Pass& pass, size_t task)) {
  Region region = {pass, task};
  const embert_options& options = pass.engine.options;
  if (options.threads == 1) {
    run_task(&region, 0);
  } else {
    options.parallel_for(options.parallel_context, run_task, &region, options.threads);
  }
}

}  // namespace embert
