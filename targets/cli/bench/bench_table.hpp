// SPDX-License-Identifier: Apache-2.0
// The results of `embert bench` as a table, JSON Lines, Markdown or CSV.
#pragma once

#include <cstdint>
#include <string>

#include "targets/hosted/line_text.hpp"

namespace embert::cli {

struct BenchResult {
  uint32_t tokens;
  uint32_t threads;
  std::string isa;
  double min_ms;
  double median_ms;
  double p90_ms;
  double gmac_per_s;       ///< at the median time
  double percent_of_peak;  ///< of peak.hpp, times the threads; below 0: unknown
};

hosted::Json bench_json(const BenchResult& result);

enum class BenchFormat { kText, kJson, kMarkdown, kCsv };

/// Writes the column names; nothing in JSON.
void write_bench_header(BenchFormat format);
void write_bench_result(BenchFormat format, const BenchResult& result);

}  // namespace embert::cli
