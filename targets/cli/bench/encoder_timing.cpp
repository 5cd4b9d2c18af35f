// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/bench/encoder_timing.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "targets/cli/tool_error.hpp"

namespace embert::cli {

double encoder_macs(const embert_model_info& info, double tokens) {
  const double hidden = info.hidden_size;
  const double attention_width = static_cast<double>(info.num_heads) * info.head_size;
  const double dense = 4 * hidden * attention_width + 2 * hidden * info.intermediate_size;
  const double attention = 2 * tokens * attention_width;
  return info.num_layers * tokens * (dense + attention);
}

Batch random_text(const embert_model_info& info, uint32_t tokens) {
  Batch batch;
  std::vector<int32_t> ids(tokens);
  uint32_t state = 1;
  for (int32_t& id : ids) {
    state = state * 1664525u + 1013904223u;
    id = static_cast<int32_t>((state >> 8) % info.vocab_size);
  }
  batch.add(ids, std::vector<int32_t>(tokens, 0));
  return batch;
}

double seconds_of_run(const BenchEngine& bench, const embert_input& input) {
  const int16_t* hidden = nullptr;
  embert_scale scale = {};
  if (embert_cache_length(bench.engine(), 0) > 0) {
    check(embert_cache_clear(bench.engine()), "embert_cache_clear");
  }
  embert_status status = EMBERT_STATUS_OK;
  const auto start = std::chrono::steady_clock::now();
  bench.run([&] { status = embert_last_hidden_state(bench.engine(), &input, &hidden, &scale); });
  const auto stop = std::chrono::steady_clock::now();
  check(status, "embert_last_hidden_state");
  return std::chrono::duration<double>(stop - start).count();
}

namespace {

constexpr double kWarmUpSeconds = 0.15;
constexpr uint32_t kFewestRepeats = 5;
constexpr uint32_t kMostRepeats = 2000;

std::vector<double> measure(const BenchEngine& bench, const embert_input& input,
                            const EncoderRun& run) {
  double warm = 0;
  do {
    warm += seconds_of_run(bench, input);
  } while (warm < kWarmUpSeconds);
  std::vector<double> seconds;
  double sum = 0;
  while (run.repeats != 0 ? seconds.size() < run.repeats
                          : seconds.size() < kFewestRepeats ||
                                (sum < run.seconds && seconds.size() < kMostRepeats)) {
    seconds.push_back(seconds_of_run(bench, input));
    sum += seconds.back();
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

}  // namespace

BenchResult time_encoder(const ModelFile& file, const EncoderRun& run) {
  const BenchEngine bench(file, run.threads, run.tokens);
  const Batch batch = random_text(file.info(), run.tokens);
  const std::vector<double> seconds = measure(bench, batch.input(), run);
  const double median = seconds[seconds.size() / 2], peak = run.peak_macs_per_second;
  const double macs_per_second = encoder_macs(file.info(), run.tokens) / median;
  BenchResult result;
  result.tokens = run.tokens;
  result.threads = bench.threads();
  result.isa = embert_isa_name(file.info().isa_mask);
  result.min_ms = seconds.front() * 1e3;
  result.median_ms = median * 1e3;
  result.p90_ms = seconds[(seconds.size() * 9 - 1) / 10] * 1e3;
  result.gmac_per_s = macs_per_second / 1e9;
  result.percent_of_peak = peak > 0 ? 100 * macs_per_second / (peak * bench.threads()) : -1;
  return result;
}

}  // namespace embert::cli
