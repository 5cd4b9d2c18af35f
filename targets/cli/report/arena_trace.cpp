// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/report/arena_trace.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>

#include "embert/embert_inspect.h"
#include "embert/embert_run.h"
#include "runtime/engine/arena_plan.hpp"
#include "targets/cli/bench/encoder_timing.hpp"
#include "targets/cli/tool_error.hpp"

namespace embert::cli {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kMostGaps = 256;  // of an arena: a smaller gap between two writes is not told
constexpr uint8_t kUnwritten = 0xA5;
constexpr std::align_val_t kAlignment{kLine};

struct ArenaDelete {
  void operator()(uint8_t* memory) const { ::operator delete(memory, kAlignment); }
};

/// Compares the arena with what it was after the step before.
class Recorder {
 public:
  Recorder(const uint8_t* arena, size_t bytes) : arena_(arena), before_(bytes) {}

  /// Bytes that the arena holds now do not count as writes of a step.
  void begin() { std::memcpy(before_.data(), arena_, before_.size()); }
  static void run_step(void* recorder, void (*task)(void* argument, size_t index), void* argument,
                       size_t tasks) {
    for (size_t i = 0; i < tasks; ++i) task(argument, i);
    static_cast<Recorder*>(recorder)->record();
  }

  std::vector<std::vector<ByteRange>> take() { return std::move(steps_); }

 private:
  void record() {
    std::vector<ByteRange>& written = steps_.emplace_back();
    const size_t gap = before_.size() / kMostGaps;
    for (size_t at = 0; at < before_.size(); at += kLine) {
      const size_t bytes = std::min(kLine, before_.size() - at);
      if (std::memcmp(arena_ + at, before_.data() + at, bytes) == 0) continue;
      std::memcpy(before_.data() + at, arena_ + at, bytes);
      if (!written.empty() && at - written.back().offset - written.back().bytes <= gap) {
        written.back().bytes = at + bytes - written.back().offset;
      } else {
        written.push_back({at, bytes});
      }
    }
  }

  const uint8_t* arena_;
  std::vector<uint8_t> before_;
  std::vector<std::vector<ByteRange>> steps_;
};

/// Sets the bytes of areas in the order of their offsets: each ends where the next one begins.
void close_areas(std::vector<ArenaArea>& areas, size_t end) {
  std::stable_sort(areas.begin(), areas.end(),
                   [](const ArenaArea& a, const ArenaArea& b) { return a.offset < b.offset; });
  for (size_t i = 0; i < areas.size(); ++i) {
    size_t next = i + 1;
    while (next < areas.size() && areas[next].offset == areas[i].offset) ++next;
    areas[i].bytes = (next < areas.size() ? areas[next].offset : end) - areas[i].offset;
  }
}

std::vector<ArenaArea> areas_of(const ArenaPlan& plan, const embert_options& options,
                                uint64_t stream) {
  const StackPlan& stack = plan.stacks[0];
  std::vector<ArenaArea> areas = {{"engine", 0, 0}, {"residual", stack.residual, 0}};
  if (plan.self.capacity > 0) areas.push_back({"KV cache", plan.self.lengths, 0});
  uint64_t end_of_streams = stack.residual + stream;
  if (stack.normalized != stack.residual) {
    areas.push_back({"LayerNorm output", stack.normalized, 0});
    end_of_streams = stack.normalized + stream;
  }
  if (end_of_streams != stack.shared) {
    areas.push_back({"rows inside a layer", end_of_streams, 0});
  }
  areas.push_back({"context, feed-forward rows", stack.shared, 0});
  for (uint32_t i = 0; i < options.threads; ++i) {
    areas.push_back(
        {"scratch of thread " + std::to_string(i), stack.scratch + i * stack.scratch_bytes, 0});
  }
  close_areas(areas, plan.total());
  return areas;
}

std::vector<ArenaArea> scratch_of(const StackPlan& plan) {
  std::vector<ArenaArea> buffers = {{"query", plan.query, 0},
                                    {"keys and values", plan.kv, 0},
                                    {"reciprocals, row maxima", plan.row_max, 0},
                                    {"quantised rows", plan.lhs, 0},
                                    {"accumulators", plan.acc, 0},
                                    {"scores", plan.scores, 0},
                                    {"context sums", plan.context_acc, 0},
                                    {"row", plan.row, 0}};
  close_areas(buffers, plan.scratch_bytes);
  return buffers;
}

std::string name_of_step(size_t step, size_t steps, size_t layers) {
  if (step == 0) return "embeddings";
  if (layers == 0 || (steps - 1) % layers != 0) return "step " + std::to_string(step);
  constexpr std::array<const char*, 3> kEncoder = {"attention", "attention output",
                                                   "feed-forward network"};
  const size_t of_layer = (steps - 1) / layers, part = (step - 1) % of_layer;
  return "layer " + std::to_string((step - 1) / of_layer) + ": " +
         (of_layer == kEncoder.size()
              ? kEncoder[part]
              : "step " + std::to_string(part + 1) + " of " + std::to_string(of_layer));
}

}  // namespace

std::optional<ArenaTrace> trace_arena(const embert_model& model, uint32_t tokens) {
  embert_model_info info = {.size = sizeof(info)};
  check(embert_model_get_info(&model, &info), "embert_model_get_info");
  if (info.num_stacks > 1 || info.cross_hidden_size > 0) return std::nullopt;
  embert_options options = embert_options_default(&model);
  options.max_tokens = tokens;
  options.threads = kTraceThreads;
  options.parallel_for = Recorder::run_step;
  size_t bytes = 0;
  check(embert_arena_bytes(&model, &options, &bytes), "embert_arena_bytes");
  const std::unique_ptr<uint8_t, ArenaDelete> arena(
      static_cast<uint8_t*>(::operator new(bytes, kAlignment)));
  std::memset(arena.get(), kUnwritten, bytes);
  Recorder recorder(arena.get(), bytes);
  options.parallel_context = &recorder;
  embert_engine* engine = nullptr;
  check(embert_engine_init(&model, &options, arena.get(), bytes, &engine), "embert_engine_init");
  recorder.begin();
  const Batch batch = random_text(info, tokens);
  const embert_input input = batch.input();
  const int16_t* hidden = nullptr;
  embert_scale scale = {};
  check(embert_last_hidden_state(engine, &input, &hidden, &scale), "embert_last_hidden_state");

  const ArenaPlan plan = plan_arena(model_of(model), options);
  ArenaTrace trace = {.tokens = tokens,
                      .bytes = bytes,
                      .areas = areas_of(plan, options, stream_bytes(options, info.hidden_size)),
                      .scratch = scratch_of(plan.stacks[0]),
                      .steps = {}};
  std::vector<std::vector<ByteRange>> steps = recorder.take();
  if (steps.empty()) return std::nullopt;
  for (size_t i = 0; i < steps.size(); ++i) {
    trace.steps.push_back({name_of_step(i, steps.size(), info.num_layers), std::move(steps[i])});
  }
  return trace;
}

}  // namespace embert::cli
