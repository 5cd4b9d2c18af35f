// SPDX-License-Identifier: Apache-2.0
// The results of `embert bench` as a table, JSON Lines, Markdown or CSV.
#pragma once

#include <cstdint>
#include <string>

namespace embert::cli {

struct BenchResult {
  uint32_t tokens;
  uint32_t threads;
  std::string isa;
  double min_ms;
  double median_ms;
  double p90_ms;
  double gmac_per_s;       ///< of the median
  double percent_of_peak;  ///< of the multiply-add instruction, threads counted; below 0: unknown
};

enum class BenchFormat { kText, kJson, kMarkdown, kCsv };

/// What stands above the results; nothing in JSON.
void write_bench_head(BenchFormat format);
void write_bench_result(BenchFormat format, const BenchResult& result);

}  // namespace embert::cli
