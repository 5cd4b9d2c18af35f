// SPDX-License-Identifier: Apache-2.0
// Every GEMM variant at MiniLM's shapes, in percent of the peak of its multiply-add instruction,
// which is measured first. "cold" shapes read 9 MB of weights, as a whole model does.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "embert/embert.h"
#include "kernels/dispatch.hpp"
#include "kernels/variants.hpp"
#include "targets/cli/bench/peak.hpp"

namespace embert {
namespace {

struct Shape {
  const char* name;
  size_t n, chunk, k;  // the runtime computes n columns in chunks
  LhsType lhs_type;
  size_t matrices;  // different weights, one after another
};

constexpr Shape kShapes[] = {
    {"qkv", 1152, 96, 384, LhsType::kSigned, 1},
    {"attention_output", 384, 384, 384, LhsType::kSigned, 1},
    {"ffn_up", 1536, 96, 384, LhsType::kSigned, 1},
    {"ffn_down", 384, 96, 1536, LhsType::kUnsigned, 1},
    {"ffn_up_cold", 1536, 96, 384, LhsType::kSigned, 16},
    {"ffn_down_cold", 384, 96, 1536, LhsType::kUnsigned, 16},
    {"scores", 128, 128, 32, LhsType::kSigned, 1},
    {"context", 64, 64, 128, LhsType::kUnsigned, 1},
};

struct Free {
  void operator()(void* p) const { std::free(p); }
};
template <typename T>
using Array = std::unique_ptr<T[], Free>;

template <typename T>
Array<T> random_array(size_t count) {
  const size_t bytes = round_up(count * sizeof(T), 64);
  Array<T> array(static_cast<T*>(std::aligned_alloc(64, bytes)));
  if (array == nullptr) throw std::bad_alloc();
  uint32_t state = 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    array[i] = static_cast<T>(state >> 24);
  }
  return array;
}

// Inputs as layers have them, because AVX2 is faster with these: signed ones of about a normal
// distribution with a deviation of 26, unsigned ones of its half, twice as wide.
Array<uint8_t> layer_inputs(LhsType type, size_t count) {
  constexpr size_t kTerms = 8;
  const Array<uint8_t> terms = random_array<uint8_t>(count * kTerms);
  Array<uint8_t> inputs = random_array<uint8_t>(count);
  for (size_t i = 0; i < count; ++i) {
    int sum = 0;
    for (size_t t = 0; t < kTerms; ++t) sum += terms[i * kTerms + t];
    const int mean = sum / static_cast<int>(kTerms);
    inputs[i] = static_cast<uint8_t>(
        type == LhsType::kSigned ? mean : std::min(2 * std::abs(mean - 128), 255));
  }
  return inputs;
}

double measured_peak(uint32_t isa) {
  double peak = 0;
  for (int run = 0; run < 5; ++run) peak = std::max(peak, measure_peak_macs_per_second(isa));
  return peak;
}

// Reports the best and the median run, because other programs may use the machine.
void run(benchmark::State& state, GemmFn gemm, double peak, size_t m, const Shape& shape) {
  const Array<int8_t> rhs = random_array<int8_t>(shape.n * shape.k * shape.matrices);
  const Array<uint8_t> lhs = layer_inputs(shape.lhs_type, m * shape.k);
  const Array<int32_t> bias = random_array<int32_t>(shape.n), sums = random_array<int32_t>(shape.n);
  const Array<int32_t> dst = random_array<int32_t>(m * shape.chunk);
  const double macs = static_cast<double>(m * shape.n * shape.k * shape.matrices);
  const int repeats = std::max(1, static_cast<int>(1e7 / macs));
  std::vector<double> seconds;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const int8_t* weights = rhs.get();
      for (size_t matrix = 0; matrix < shape.matrices; ++matrix) {
        for (size_t j = 0; j < shape.n; j += shape.chunk, weights += shape.chunk * shape.k) {
          gemm({.m = m,
                .n = shape.chunk,
                .k = shape.k,
                .lhs = lhs.get(),
                .lhs_stride = shape.k,
                .lhs_type = shape.lhs_type,
                .rhs = weights,
                .bias = bias.get() + j,
                .sums = sums.get() + j,
                .dst = dst.get(),
                .dst_stride = shape.chunk});
        }
      }
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(elapsed.count());
    seconds.push_back(elapsed.count() / repeats);
  }
  std::sort(seconds.begin(), seconds.end());
  state.counters["gmac_per_s"] = macs / seconds[0] * 1e-9;
  if (peak > 0) {
    state.counters["percent_of_peak"] = 100 * macs / seconds[0] / peak;
    state.counters["median_percent"] = 100 * macs / seconds[seconds.size() / 2] / peak;
  }
}

void add_variant(const char* name, GemmFn gemm, uint32_t isa) {
  if ((embert_isa_detect() & isa) != isa) {
    std::printf("%s: this machine has no %s\n", name, isa_name(isa));
    return;
  }
  const double peak = measured_peak(isa);
  if (peak > 0) std::printf("peak of %s: %.1f GMAC/s\n", isa_name(isa), peak * 1e-9);
  for (const size_t m : {size_t{32}, size_t{16}, size_t{8}}) {
    for (const Shape& shape : kShapes) {
      const std::string title = std::string(name) + "/" + shape.name + "/m:" + std::to_string(m);
      benchmark::RegisterBenchmark(
          title.c_str(), [=](benchmark::State& state) { run(state, gemm, peak, m, shape); })
          ->UseManualTime()
          ->MinTime(0.05)
          ->Unit(benchmark::kMicrosecond);
    }
  }
}

// Rows of variants.inc for other operations.
template <typename Fn>
void add_variant(const char*, Fn, uint32_t) {}

}  // namespace
}  // namespace embert

int main(int argc, char** argv) {
  using namespace embert;
#define EMBERT_KERNEL(operation, type_name, kernel, isa) \
  add_variant(#kernel, static_cast<type_name>(kernel), isa);
#include "kernels/variants.inc"
#undef EMBERT_KERNEL
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
