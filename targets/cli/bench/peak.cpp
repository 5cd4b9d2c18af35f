// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/bench/peak.hpp"

#include <algorithm>
#include <chrono>

#include "kernels/processor.hpp"

#if EMBERT_X86
#include <immintrin.h>
#endif

namespace embert {
#if EMBERT_X86
namespace {

// Takes the best of many short runs, so that other load on the machine lowers the result only if it
// never pauses.
template <typename Run>
double best_rate(double macs_per_run, Run run) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(20);
  double best = 0;
  for (Clock::time_point start = Clock::now(); start < end;) {
    run();
    const Clock::time_point stop = Clock::now();
    const double seconds = std::chrono::duration<double>(stop - start).count();
    best = std::max(best, macs_per_run / seconds);
    start = stop;
  }
  return best;
}

constexpr int kLoops = 2000;

#ifdef __x86_64__
// Six chains hide the latency of 52 cycles at one instruction every 16.
__attribute__((target("amx-tile,amx-int8"))) void run_amxint8() {
  constexpr uint8_t kRows = 16, kRowBytes = 64;
  alignas(64)
      uint8_t shapes[64] = {1};  // palette 1; row bytes of 16 bits from 16 on, rows from 48 on
  for (size_t tile = 0; tile < 8; ++tile) {
    shapes[16 + 2 * tile] = kRowBytes;
    shapes[48 + tile] = kRows;
  }
  asm volatile("" : : "r"(shapes) : "memory");
  _tile_loadconfig(shapes);
  for (int loop = 0; loop < kLoops; ++loop) {
    _tile_dpbusd(0, 6, 7);
    _tile_dpbusd(1, 6, 7);
    _tile_dpbusd(2, 6, 7);
    _tile_dpbusd(3, 6, 7);
    _tile_dpbusd(4, 6, 7);
    _tile_dpbusd(5, 6, 7);
  }
  _tile_release();
}
#endif

// Twelve chains hide the latency at two instructions a cycle and fit 16 registers. The empty asm
// statements keep the compiler from merging equal chains and equal products.
__attribute__((target("avx512f,avx512vnni"))) void run_avx512vnni() {
  __m512i a = _mm512_setzero_si512(), acc[12];
#pragma GCC unroll 12
  for (int i = 0; i < 12; ++i) {
    acc[i] = a;
    asm volatile("" : "+v"(acc[i]));
  }
  for (int loop = 0; loop < kLoops; ++loop) {
    asm volatile("" : "+v"(a));
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) acc[i] = _mm512_dpbusd_epi32(acc[i], a, a);
  }
#pragma GCC unroll 12
  for (int i = 0; i < 12; ++i) asm volatile("" : : "v"(acc[i]));
}

__attribute__((target("avx2,avxvnni"))) void run_avxvnni() {
  __m256i a = _mm256_setzero_si256(), acc[12];
#pragma GCC unroll 12
  for (int i = 0; i < 12; ++i) {
    acc[i] = a;
    asm volatile("" : "+x"(acc[i]));
  }
  for (int loop = 0; loop < kLoops; ++loop) {
    asm volatile("" : "+x"(a));
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) acc[i] = _mm256_dpbusd_avx_epi32(acc[i], a, a);
  }
#pragma GCC unroll 12
  for (int i = 0; i < 12; ++i) asm volatile("" : : "x"(acc[i]));
}

__attribute__((target("avx2"))) void run_avx2() {
  __m256i a = _mm256_setzero_si256(), acc[12];
#pragma GCC unroll 12
  for (int i = 0; i < 12; ++i) {
    acc[i] = a;
    asm volatile("" : "+x"(acc[i]));
  }
  for (int loop = 0; loop < kLoops; ++loop) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) {
      asm volatile("" : "+x"(a));
      acc[i] = _mm256_add_epi32(acc[i], _mm256_madd_epi16(a, a));
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < 12; ++i) asm volatile("" : : "x"(acc[i]));
}

}  // namespace
#endif

double measure_peak_macs_per_second(uint32_t isa_mask) {
#if EMBERT_X86
#ifdef __x86_64__
  if (isa_mask & kIsaAmxInt8) return best_rate(6.0 * kLoops * 16 * 16 * 64, run_amxint8);
#endif
  if (isa_mask & kIsaAvx512Vnni) return best_rate(12.0 * kLoops * 64, run_avx512vnni);
  if (isa_mask & kIsaAvxVnni) return best_rate(12.0 * kLoops * 32, run_avxvnni);
  if (isa_mask & kIsaAvx2) return best_rate(12.0 * kLoops * 16, run_avx2);
#endif
  static_cast<void>(isa_mask);
  return 0;
}

}  // namespace embert
