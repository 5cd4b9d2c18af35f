// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/bench/bench_table.hpp"

#include <array>

#include "targets/cli/io/output.hpp"

namespace embert::cli {
namespace {

constexpr std::array<const char*, 8> kColumns = {
    "tokens", "threads", "isa", "min_ms", "median_ms", "p90_ms", "gmac_per_s", "percent_of_peak"};
constexpr size_t kColumnWidth = 12;
constexpr size_t kIsaColumn = 2;

using Row = std::array<std::string, kColumns.size()>;

void write_row(BenchFormat format, const Row& row) {
  std::string line = format == BenchFormat::kMarkdown ? "|" : "";
  for (size_t i = 0; i < row.size(); ++i) {
    if (format == BenchFormat::kMarkdown) {
      line += ' ' + row[i] + " |";
    } else if (format == BenchFormat::kCsv) {
      line += (i > 0 ? "," : "") + row[i];
    } else {
      const size_t width = i + 1 == row.size() ? kColumnWidth + 4 : kColumnWidth;
      line.append(width > row[i].size() ? width - row[i].size() : 1, ' ');
      line += row[i];
    }
  }
  output().line(line);
}

}  // namespace

Json bench_json(const BenchResult& result) {
  return {{"tokens", result.tokens},
          {"threads", result.threads},
          {"isa", result.isa},
          {"min_ms", result.min_ms},
          {"median_ms", result.median_ms},
          {"p90_ms", result.p90_ms},
          {"gmac_per_s", result.gmac_per_s},
          {"percent_of_peak", result.percent_of_peak >= 0 ? Json(result.percent_of_peak) : Json()}};
}

void write_bench_header(BenchFormat format) {
  if (format == BenchFormat::kJson) return;
  Row names, rule;
  for (size_t i = 0; i < kColumns.size(); ++i) {
    names[i] = kColumns[i];
    rule[i] = i == kIsaColumn ? "---" : "---:";
  }
  write_row(format, names);
  if (format == BenchFormat::kMarkdown) write_row(format, rule);
}

void write_bench_result(BenchFormat format, const BenchResult& result) {
  const bool has_peak = result.percent_of_peak >= 0;
  if (format == BenchFormat::kJson) {
    output().json(bench_json(result));
  } else {
    const char* unknown = format == BenchFormat::kCsv ? "" : "-";
    // In the order of kColumns.
    Row row;
    row[0] = std::to_string(result.tokens);
    row[1] = std::to_string(result.threads);
    row[kIsaColumn] = result.isa;
    row[3] = fixed(result.min_ms, 3);
    row[4] = fixed(result.median_ms, 3);
    row[5] = fixed(result.p90_ms, 3);
    row[6] = fixed(result.gmac_per_s, 1);
    row[7] = has_peak ? fixed(result.percent_of_peak, 1) : unknown;
    write_row(format, row);
  }
  output().flush();  // the next measurement may take long
}

}  // namespace embert::cli
