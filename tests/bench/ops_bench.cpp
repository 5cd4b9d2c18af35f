// SPDX-License-Identifier: Apache-2.0
// Every variant of the operations around the GEMM at the shapes of MiniLM: 32 rows, hidden size
// 384, intermediate 1536, heads of 32, texts of 96 and 128 tokens. items_per_second counts
// elements; ns is per element.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "embert/embert.h"
#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kRows = 32;

bool machine_has(uint32_t isa) { return (embert_isa_detect() & isa) == isa; }

// 64-byte aligned, with deterministic contents.
template <typename T>
class Array {
 public:
  explicit Array(size_t count, int64_t lowest = 0, int64_t highest = 0) {
    data_ = static_cast<T*>(::operator new (count * sizeof(T) + 64, std::align_val_t{64}));
    uint64_t state = count;
    for (size_t i = 0; i < count; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const uint64_t span = static_cast<uint64_t>(highest - lowest) + 1;
      data_[i] = static_cast<T>(lowest + static_cast<int64_t>((state >> 33) % span));
    }
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { ::operator delete (data_, std::align_val_t{64}); }
  T* data() { return data_; }

 private:
  T* data_;
};

void report(benchmark::State& state, size_t elements) {
  const double total = static_cast<double>(state.iterations()) * static_cast<double>(elements);
  state.counters["per_element"] =
      benchmark::Counter(total, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Accumulators and multipliers of [m][n]; the products fill about 16 bits.
struct Accumulators {
  explicit Accumulators(size_t columns)
      : acc(kRows * columns, -300000, 300000), multiplier(columns, 1 << 30, INT32_MAX) {}
  Requantize factor(int32_t right) { return {multiplier.data(), 0, right}; }
  Array<int32_t> acc, multiplier;
};

void run(benchmark::State& state, RequantizeQueryFn function, size_t n) {
  Accumulators in(n);
  Array<uint8_t> dst(2 * kRows * 2 * n);  // for two planes
  const RequantizeQueryArgs args = {.m = kRows,
                                    .n = n,
                                    .acc = in.acc.data(),
                                    .acc_stride = n,
                                    .factor = in.factor(11),
                                    .dst = dst.data(),
                                    .dst_stride = 2 * n};
  for (auto _ : state) function(args);
  report(state, kRows * n);
}
void run(benchmark::State& state, RequantizeKeyFn function, size_t n) {
  Accumulators in(n);
  Array<int8_t> dst(pad_columns(kRows) * 2 * n);  // for two planes
  Array<int32_t> sums(pad_columns(kRows));
  const RequantizeKeyArgs args = {.m = kRows,
                                  .n = n,
                                  .row0 = 0,
                                  .acc = in.acc.data(),
                                  .acc_stride = n,
                                  .factor = in.factor(11),
                                  .dst = dst.data(),
                                  .sums = sums.data()};
  for (auto _ : state) function(args);
  report(state, kRows * n);
}
void run(benchmark::State& state, RequantizeValueFn function, size_t n) {
  Accumulators in(n);
  Array<int8_t> dst(2 * kRows * n);
  const RequantizeValueArgs args = {.m = kRows,
                                    .n = n,
                                    .row0 = 0,
                                    .k = kRows,
                                    .acc = in.acc.data(),
                                    .acc_stride = n,
                                    .factor = in.factor(3),
                                    .dst = dst.data(),
                                    .sums = nullptr};
  for (auto _ : state) function(args);
  report(state, kRows * n);
}
void run(benchmark::State& state, RequantizeContextFn function, size_t n) {
  Accumulators in(2 * n);
  std::vector<Reciprocal> rows(kRows, reciprocal(9000));
  Array<int16_t> dst(kRows * n);
  const RequantizeContextArgs args = {.m = kRows,
                                      .n = n,
                                      .acc = in.acc.data(),
                                      .acc_stride = 2 * n,
                                      .row = rows.data(),
                                      .factor = in.factor(3),
                                      .dst = dst.data(),
                                      .dst_stride = n};
  for (auto _ : state) function(args);
  report(state, kRows * n);
}
void run(benchmark::State& state, RequantizeActivationFn function, size_t n) {
  Accumulators in(n);
  Array<uint16_t> dst(kRows * n);
  const RequantizeActivationArgs args = {.m = kRows,
                                         .n = n,
                                         .acc = in.acc.data(),
                                         .acc_stride = n,
                                         .factor = in.factor(6),
                                         .activation = {.nodes = kGeluNodes,
                                                        .intervals = 64,
                                                        .offset_q14 = 2786,
                                                        .odd = 0,
                                                        .exponent = 10},
                                         .dst = dst.data(),
                                         .dst_stride = n};
  for (auto _ : state) function(args);
  report(state, kRows * n);
}
void run(benchmark::State& state, RequantizeResidualFn function, size_t n) {
  Accumulators in(n);
  Array<int16_t> residual(kRows * n, -32768, 32767), dst(kRows * n);
  Array<int32_t> constant(n, -100000, 100000), row_max(kRows, 1, 32767);
  Array<int32_t> residual_multiplier(n, 1 << 20, 1 << 28);
  const RequantizeResidualArgs args = {.m = kRows,
                                       .n = n,
                                       .acc = in.acc.data(),
                                       .acc_stride = n,
                                       .factor = in.factor(2),
                                       .row_max = row_max.data(),
                                       .residual = residual.data(),
                                       .residual_multiplier = residual_multiplier.data(),
                                       .constant = constant.data(),
                                       .dst = dst.data(),
                                       .dst_stride = n};
  for (auto _ : state) function(args);
  report(state, kRows * n);
}
void run(benchmark::State& state, SoftmaxFn function, size_t n) {
  const size_t stride = pad_columns(n);
  Array<int32_t> scores(kRows * stride, -8000, 8000);
  Array<uint8_t> dst(2 * kRows * stride);  // for two planes
  std::vector<Reciprocal> row(kRows);
  const SoftmaxArgs args = {.m = kRows,
                            .n = n,
                            .scores = scores.data(),
                            .scores_stride = stride,
                            .score_multiplier = 271000,
                            .score_cap = 8922,
                            .dst = dst.data(),
                            .dst_stride = stride,
                            .row = row.data()};
  for (auto _ : state) function(args);
  report(state, kRows * n);
}
void run(benchmark::State& state, LayerNormFn function, size_t n) {
  Array<int16_t> src(kRows * n, -20000, 20000), dst(kRows * n);
  Array<int32_t> gain(n, 1 << 29, INT32_MAX), bias(n, -100000, 100000);
  const LayerNormArgs args = {.m = kRows,
                              .n = n,
                              .src = src.data(),
                              .dst = dst.data(),
                              .stride = n,
                              .epsilon_n2 = 1000,
                              .gain = gain.data(),
                              .bias = bias.data(),
                              .shift = 18};
  for (auto _ : state) function(args);
  report(state, kRows * n);
}
void run(benchmark::State& state, ConvertS8S16Fn function, size_t n) {
  Array<int16_t> src(kRows * n, -20000, 20000);
  Array<uint8_t> dst(kRows * n);
  const ConvertS8S16Args args = {
      .m = kRows, .k = n, .src = src.data(), .src_stride = n, .dst = dst.data(), .dst_stride = n};
  for (auto _ : state) function(args);
  report(state, kRows * n);
}
void run(benchmark::State& state, QuantizeS8S16Fn function, size_t n) {
  Array<int16_t> src(kRows * n, -20000, 20000);
  Array<uint8_t> dst(kRows * n);
  Array<int32_t> row_max(kRows);
  const QuantizeS8S16Args args = {.m = kRows,
                                  .k = n,
                                  .src = src.data(),
                                  .src_stride = n,
                                  .dst = dst.data(),
                                  .dst_stride = n,
                                  .row_max = row_max.data()};
  for (auto _ : state) function(args);
  report(state, kRows * n);
}
void run(benchmark::State& state, QuantizeU8U16Fn function, size_t n) {
  Array<uint16_t> src(kRows * n, 0, 20000);
  Array<uint8_t> dst(kRows * n);
  Array<int32_t> row_max(kRows);
  const QuantizeU8U16Args args = {.m = kRows,
                                  .k = n,
                                  .src = src.data(),
                                  .src_stride = n,
                                  .dst = dst.data(),
                                  .dst_stride = n,
                                  .row_max = row_max.data()};
  for (auto _ : state) function(args);
  report(state, kRows * n);
}
void run(benchmark::State& state, AddRelativePositionsFn function, size_t n) {
  Array<int32_t> products(kRows * 2 * n, -300000, 300000), scores(kRows * n, -8000, 8000);
  const ptrdiff_t row_step = static_cast<ptrdiff_t>(2 * n) - 1;
  const AddRelativePositionsArgs args = {.m = kRows,
                                         .n = n,
                                         .products = products.data() + kRows,
                                         .row_step = row_step,
                                         .col_step = 1,
                                         .multiplier = 1 << 30,
                                         .left = 0,
                                         .right = 7,
                                         .scores = scores.data(),
                                         .scores_stride = n};
  for (auto _ : state) function(args);
  report(state, kRows * n);
}
void run(benchmark::State& state, MaskScoresFn function, size_t n) {
  Array<int32_t> scores(kRows * n, -8000, 8000);
  Array<uint8_t> key_mask(n, 0, 1);
  const MaskScoresArgs args = {.m = kRows,
                               .n = n,
                               .scores = scores.data(),
                               .scores_stride = n,
                               .visible = n,
                               .key_mask = key_mask.data(),
                               .pair_mask = nullptr,
                               .pair_stride = 0,
                               .query_mask = nullptr};
  for (auto _ : state) function(args);
  report(state, kRows * n);
}
// Both planes of one row times a block of a vocabulary.
void run(benchmark::State& state, DotRowsFn function, size_t n) {
  constexpr size_t kTokens = 512;
  Array<int8_t> lhs(2 * n, -127, 127), rhs(kTokens * n, -127, 127);
  Array<int32_t> dst(2 * kTokens);
  const DotRowsArgs args = {.m = 2,
                            .n = kTokens,
                            .k = n,
                            .lhs = lhs.data(),
                            .lhs_stride = n,
                            .rhs = rhs.data(),
                            .rhs_stride = n,
                            .dst = dst.data(),
                            .dst_stride = kTokens};
  for (auto _ : state) function(args);
  report(state, 2 * kTokens * n);
}
void run(benchmark::State& state, EmbeddingFn function, size_t n) {
  Array<int8_t> word(n, -127, 127);
  Array<int16_t> position(n, -10000, 10000), segment(n, -10000, 10000), dst(n);
  const EmbeddingArgs args = {.n = n,
                              .word = word.data(),
                              .multiplier = 5000000,
                              .position = position.data(),
                              .segment = segment.data(),
                              .dst = dst.data()};
  for (auto _ : state) function(args);
  report(state, n);
}
void run(benchmark::State& state, Crc32cFn function, size_t n) {
  Array<uint8_t> data(n, 0, 255);
  for (auto _ : state) benchmark::DoNotOptimize(function(0, data.data(), n));
  report(state, n);
  state.SetBytesProcessed(static_cast<int64_t>(n) * state.iterations());
}

std::vector<size_t> sizes_of(std::string_view operation) {
  if (operation == "requantize_key" || operation == "requantize_key_s8x2" ||
      operation == "requantize_value" || operation == "requantize_context") {
    return {32};
  }
  if (operation == "requantize_activation" || operation == "quantize_u8_u16") return {1536};
  if (operation == "softmax" || operation == "softmax_u8x2") return {37, 96, 128};
  if (operation == "add_relative_positions" || operation == "mask_scores") return {128};
  if (operation == "crc32c") return {1000, size_t{1} << 20, size_t{1} << 26};
  return {384};
}

template <typename Fn>
void add(const char* operation, const char* name, Fn function, uint32_t isa) {
  // Operations without a run() are left out: the GEMM, which has its own benchmark, and rare ones.
  if constexpr (requires(benchmark::State & state, Fn kernel) { run(state, kernel, size_t{0}); }) {
    if (!machine_has(isa)) return;
    for (const size_t n : sizes_of(operation)) {
      benchmark::RegisterBenchmark((std::string(name) + "/" + std::to_string(n)).c_str(),
                                   [=](benchmark::State& state) { run(state, function, n); });
    }
  }
}

}  // namespace
}  // namespace embert

int main(int argc, char** argv) {
#define EMBERT_KERNEL(operation, type_name, function, isa) \
  embert::add<embert::type_name>(#operation, #function, embert::function, embert::isa);
#include "kernels/variants.inc"
#undef EMBERT_KERNEL
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
