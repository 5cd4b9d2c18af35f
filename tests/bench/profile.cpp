// SPDX-License-Identifier: Apache-2.0
// Shares of the time of a pass: profile MODEL [TOKENS]. Times every kernel of an engine's table and
// prints each part's share, for one text on one thread. The clocks cost about 1 %.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "embert/embert_inspect.h"
#include "embert/embert_run.h"
#include "runtime/engine/engine.hpp"
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
  kRequantize,
  kQuantize,
  kPlanes,
  kEmbedding,
  kParts
};
const char* const kNames[kParts] = {
    "dense GEMM", "dense, one step", "scores GEMM",  "context GEMM", "softmax",  "LayerNorm",
    "activation", "requantisation",  "quantisation", "planes",       "embedding"};

double seconds[kParts];
embert::Kernels inner;    // the kernels that are measured
const void* dense_begin;  // weights lie in the blob, keys and values in the arena
const void* dense_end;

template <typename Fn, typename Args>
void timed(Part part, Fn kernel, const Args& args) {
  const Clock::time_point start = Clock::now();
  kernel(args);
  seconds[part] += std::chrono::duration<double>(Clock::now() - start).count();
}

template <typename Fn, typename Args>
size_t timed_columns(Fn kernel, const Args& args) {
  const Clock::time_point start = Clock::now();
  const size_t columns = kernel(args);
  seconds[kDenseStep] += std::chrono::duration<double>(Clock::now() - start).count();
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
    timed(kRequantize, inner.requantize_query, a);
  };
  kernels.requantize_key = [](const embert::RequantizeKeyArgs& a) {
    timed(kRequantize, inner.requantize_key, a);
  };
  kernels.requantize_value = [](const embert::RequantizeValueArgs& a) {
    timed(kRequantize, inner.requantize_value, a);
  };
  kernels.requantize_context = [](const embert::RequantizeContextArgs& a) {
    timed(kRequantize, inner.requantize_context, a);
  };
  kernels.requantize_residual = [](const embert::RequantizeResidualArgs& a) {
    timed(kRequantize, inner.requantize_residual, a);
  };
  kernels.convert_s8_s16 = [](const embert::ConvertS8S16Args& a) {
    timed(kQuantize, inner.convert_s8_s16, a);
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

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: profile MODEL [TOKENS]\nexample: profile minilm.emb 128\n");
    return 1;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<std::uint8_t> contents{std::istreambuf_iterator<char>(file), {}};
  const embert::test::AlignedBytes blob(contents);
  embert_model model;
  embert_status status = embert_model_open(blob.data(), blob.size(), embert_isa_detect(), &model);
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

  const auto run = [&](double at_least) {
    const Clock::time_point start = Clock::now();
    double passed = 0;
    int runs = 0;
    for (; passed < at_least || runs < 5; ++runs) {
      embert_last_hidden_state(engine, &input, &hidden, nullptr);
      passed = std::chrono::duration<double>(Clock::now() - start).count();
    }
    return passed / runs;
  };
  run(0.3);  // warm-up
  const double plain = run(1);
  if (info.has_pooler != 0) compare_first_token(engine, input, info.hidden_size);
  dense_begin = blob.data();
  dense_end = blob.data() + blob.size();
  wrap(engine->kernels);
  const Clock::time_point start = Clock::now();
  std::fill(seconds, seconds + kParts, 0.0);
  const double clocked = run(1);
  const double total = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf("%u tokens, %s: %.3f ms a pass (%.3f with clocks)\n", options.max_tokens,
              embert_isa_name(info.isa_mask), 1e3 * plain, 1e3 * clocked);
  double rest = total;
  for (int part = 0; part < kParts; ++part) {
    std::printf("  %-16s %5.1f %%\n", kNames[part], 100 * seconds[part] / total);
    rest -= seconds[part];
  }
  std::printf("  %-16s %5.1f %%\n", "the rest", 100 * rest / total);
}
