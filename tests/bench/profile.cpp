// SPDX-License-Identifier: Apache-2.0
// The parts of a pass: profile MODEL [TOKENS [ISA]]. Times every call of a kernel, for one text on
// one thread, and adds up the least time of each call over many passes: a neighbour on the machine
// seldom disturbs the same call in all of them. On an Intel Xeon where passes differed by half, the
// sums differed by 1 to 2 %, unless it was busy all the time. Each call includes a reading of the
// clock, about 20 ns.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "embert/embert_inspect.h"
#include "embert/embert_run.h"
#include "runtime/engine/engine.hpp"
#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/model/isa_choice.hpp"
#include "tests/support/synthetic_blob.hpp"

namespace {

using Clock = std::chrono::steady_clock;

enum Part {
  kDense,
  kDenseStep,
  kScores,
  kContext,
  kSoftmax,
  kLayerNorm,
  kActivation,
  kQuery,
  kKey,
  kValue,
  kContextRows,
  kResidual,
  kConvert,
  kQuantize,
  kPlanes,
  kEmbedding,
  kParts
};
const char* const kNames[kParts] = {"dense GEMM", "dense, one step", "scores GEMM", "context GEMM",
                                    "softmax",    "LayerNorm",       "activation",  "query",
                                    "key",        "value",           "context",     "residual",
                                    "conversion", "quantisation",    "planes",      "embedding"};

/// A kernel's call; every pass makes the same ones.
struct Call {
  Part part;
  double least;  ///< seconds
};
std::vector<Call> calls;
std::size_t next_call;  // of this pass

embert::Kernels inner;    // the kernels that are measured
const void* dense_begin;  // weights lie in the blob, keys and values in the arena
const void* dense_end;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void count_call(Part part, double seconds) {
  if (next_call == calls.size()) {
    calls.push_back({part, seconds});
  } else {
    calls[next_call].least = std::min(calls[next_call].least, seconds);
  }
  ++next_call;
}

template <typename Fn, typename Args>
void timed(Part part, Fn kernel, const Args& args) {
  const Clock::time_point start = Clock::now();
  kernel(args);
  count_call(part, seconds_since(start));
}

template <typename Fn, typename Args>
size_t timed_columns(Fn kernel, const Args& args) {
  const Clock::time_point start = Clock::now();
  const size_t columns = kernel(args);
  count_call(kDenseStep, seconds_since(start));
  return columns;
}

Part part_of(const embert::GemmArgs& args) {
  if (args.rhs >= dense_begin && args.rhs < dense_end) return kDense;
  return args.lhs_type == embert::LhsType::kSigned ? kScores : kContext;
}

void wrap(embert::Kernels& kernels) {
  inner = kernels;
  kernels.gemm = [](const embert::GemmArgs& a) { timed(part_of(a), inner.gemm, a); };
  kernels.dense_activation = [](const embert::DenseActivationArgs& a) {
    return timed_columns(inner.dense_activation, a);
  };
  kernels.dense_residual = [](const embert::DenseResidualArgs& a) {
    return timed_columns(inner.dense_residual, a);
  };
  kernels.softmax = [](const embert::SoftmaxArgs& a) { timed(kSoftmax, inner.softmax, a); };
  kernels.softmax_u8x2 = [](const embert::SoftmaxArgs& a) {
    timed(kSoftmax, inner.softmax_u8x2, a);
  };
  kernels.layernorm = [](const embert::LayerNormArgs& a) { timed(kLayerNorm, inner.layernorm, a); };
  kernels.requantize_activation = [](const embert::RequantizeActivationArgs& a) {
    timed(kActivation, inner.requantize_activation, a);
  };
  kernels.requantize_query = [](const embert::RequantizeQueryArgs& a) {
    timed(kQuery, inner.requantize_query, a);
  };
  kernels.requantize_key = [](const embert::RequantizeKeyArgs& a) {
    timed(kKey, inner.requantize_key, a);
  };
  kernels.requantize_value = [](const embert::RequantizeValueArgs& a) {
    timed(kValue, inner.requantize_value, a);
  };
  kernels.requantize_context = [](const embert::RequantizeContextArgs& a) {
    timed(kContextRows, inner.requantize_context, a);
  };
  kernels.requantize_residual = [](const embert::RequantizeResidualArgs& a) {
    timed(kResidual, inner.requantize_residual, a);
  };
  kernels.convert_s8_s16 = [](const embert::ConvertS8S16Args& a) {
    timed(kConvert, inner.convert_s8_s16, a);
  };
  kernels.quantize_s8_s16 = [](const embert::QuantizeS8S16Args& a) {
    timed(kQuantize, inner.quantize_s8_s16, a);
  };
  kernels.quantize_u8_u16 = [](const embert::QuantizeU8U16Args& a) {
    timed(kQuantize, inner.quantize_u8_u16, a);
  };
  kernels.convert_s8x2_s16 = [](const embert::ConvertS8x2S16Args& a) {
    timed(kPlanes, inner.convert_s8x2_s16, a);
  };
  kernels.convert_s32_s32x2 = [](const embert::ConvertS32S32x2Args& a) {
    timed(kPlanes, inner.convert_s32_s32x2, a);
  };
  kernels.embedding = [](const embert::EmbeddingArgs& a) { timed(kEmbedding, inner.embedding, a); };
}

double seconds_of(embert_engine* engine, const embert_input& input, embert_output output) {
  constexpr int kRuns = 10;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < kRuns; ++i) embert_run(engine, &input, &output);
  return std::chrono::duration<double>(Clock::now() - start).count() / kRuns;
}

/// Prints the time with the pooled vector alone, for which the last layer computes one row, over
/// the time with all rows: median, lowest and highest of ratios measured in turn.
void compare_first_token(embert_engine* engine, const embert_input& input,
                         std::uint32_t hidden_size) {
  std::vector<std::int16_t> pooled(hidden_size);
  const std::int16_t* hidden = nullptr;
  embert_output first = {.size = sizeof(first)};
  first.pooled = pooled.data();
  embert_output whole = first;
  whole.hidden = &hidden;
  std::vector<double> ratios;
  for (int round = 0; round < 21; ++round) {
    const double of_whole = seconds_of(engine, input, whole);
    ratios.push_back(seconds_of(engine, input, first) / of_whole);
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("pooled vector alone: %.3f (%.3f to %.3f) of the time with all tokens\n",
              ratios[ratios.size() / 2], ratios.front(), ratios.back());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr,
                 "usage: profile MODEL [TOKENS [ISA]]\nexample: profile minilm.emb 128 avx2\n");
    return 1;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<std::uint8_t> contents{std::istreambuf_iterator<char>(file), {}};
  const embert::test::AlignedBytes blob(contents);
  embert_model model;
  const std::uint32_t isa = embert::hosted::isa_mask_of(argc > 3 ? argv[3] : "auto");
  embert_status status = embert_model_open(blob.data(), blob.size(), isa, &model);
  if (status != EMBERT_STATUS_OK) {
    std::fprintf(stderr, "%s: %s\n", argv[1], embert_status_name(status));
    return 2;
  }
  embert_model_info info = {.size = sizeof(info)};
  embert_model_get_info(&model, &info);
  embert_options options = embert_options_default(&model);
  options.max_tokens = argc > 2 ? static_cast<std::uint32_t>(std::atoi(argv[2]))
                                : std::min(128u, info.max_positions);
  std::size_t bytes = 0;
  embert_engine* engine = nullptr;
  status = embert_arena_bytes(&model, &options, &bytes);
  embert::test::AlignedBytes arena(bytes);
  if (status == EMBERT_STATUS_OK)
    status = embert_engine_init(&model, &options, arena.data(), bytes, &engine);
  if (status != EMBERT_STATUS_OK) {
    std::fprintf(stderr, "%u tokens: %s\n", options.max_tokens, embert_status_name(status));
    return 2;
  }
  std::vector<std::int32_t> ids(options.max_tokens);
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<std::int32_t>((i * 7919 + 1) % info.vocab_size);
  embert_input input = {.size = sizeof(input)};
  input.ids = ids.data();
  input.lengths = &options.max_tokens;
  input.batch = 1;
  const std::int16_t* hidden = nullptr;

  // Returns the least time of a pass.
  const auto run = [&](double at_least) {
    double least = 1e9;
    int runs = 0;
    for (const Clock::time_point start = Clock::now(); seconds_since(start) < at_least || runs < 5;
         ++runs) {
      next_call = 0;
      const Clock::time_point pass = Clock::now();
      embert_last_hidden_state(engine, &input, &hidden, nullptr);
      least = std::min(least, seconds_since(pass));
    }
    return least;
  };
  constexpr double kSeconds = 3;
  const double plain = run(kSeconds);
  if (info.has_pooler != 0) compare_first_token(engine, input, info.hidden_size);
  dense_begin = blob.data();
  dense_end = blob.data() + blob.size();
  wrap(engine->kernels);
  const double clocked = run(kSeconds);

  double seconds[kParts] = {}, total = 0;
  for (const Call& call : calls) {
    seconds[call.part] += call.least;
    total += call.least;
  }
  std::printf("%u tokens, %s: least pass %.3f ms (%.3f with clocks)\n", options.max_tokens,
              embert_isa_name(info.isa_mask), 1e3 * plain, 1e3 * clocked);
  for (int part = 0; part < kParts; ++part) {
    std::printf("  %-16s %9.1f us %5.1f %%\n", kNames[part], 1e6 * seconds[part],
                100 * seconds[part] / total);
  }
  std::printf("  %-16s %9.1f us, %zu calls\n", "timed", 1e6 * total, calls.size());
} catch (const embert::hosted::UsageError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
