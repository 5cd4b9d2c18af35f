// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/agreement.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <stdexcept>

namespace embert::test {
namespace {

/// Sums for the cosine of two vectors. Two zero vectors (a masked attention head) have cosine 1.
struct Cosine {
  double dot = 0, a = 0, b = 0;

  void add(double x, double y) {
    dot += x * y;
    a += x * x;
    b += y * y;
  }
  double value() const {
    if (a == 0 && b == 0) return 1;
    return a == 0 || b == 0 ? 0 : dot / std::sqrt(a * b);
  }
};

}  // namespace

void Agreement::add(const Agreement& other) {
  tensors += other.tensors;
  rows += other.rows;
  left_out += other.left_out;
  cosine = std::min(cosine, other.cosine);
  worst_row = std::min(worst_row, other.worst_row);
  error = std::max(error, other.error);
  moved += other.moved;
  lead = std::max(lead, other.lead);
}

std::string Agreement::missed(const Bound& bound) const {
  const auto compare = [](const char* what, const char* how, double found, double wanted) {
    return std::string(what) + " " + std::to_string(found) + how + std::to_string(wanted);
  };
  const char *least = ", at least ", *most = ", at most ";
  if (rows == 0) return "nothing compared";
  if (cosine < bound.cosine) return compare("cosine", least, cosine, bound.cosine);
  if (worst_row < bound.worst_row) return compare("worst row", least, worst_row, bound.worst_row);
  if (error > bound.error) return compare("error", most, error, bound.error);
  if (lead > bound.lead) return compare("lead of a largest value lost", most, lead, bound.lead);
  return "";
}

Agreement measure(const std::vector<float>& expected, const GoldenTensor& found) {
  if (expected.size() != found.values.size()) throw std::runtime_error("tensors of unequal size");
  const auto width = static_cast<std::size_t>(found.shape.back());
  double largest = 0;
  for (const float value : expected)
    largest = std::max(largest, std::fabs(static_cast<double>(value)));

  Agreement out;
  out.tensors = 1;
  Cosine whole;
  double error = 0, lead = 0;
  for (std::size_t begin = 0; begin < expected.size(); begin += width) {
    const std::span<const float> wanted(expected.data() + begin, width);
    const std::span<const std::int32_t> ours(found.values.data() + begin, width);
    if (std::ranges::find(ours, GoldenTensor::kAbsent) != ours.end()) {
      ++out.left_out;
      continue;
    }
    Cosine row;
    double best = -INFINITY, second = -INFINITY;
    for (std::size_t i = 0; i < width; ++i) {
      const double real = ours[i] * found.scale, reference = static_cast<double>(wanted[i]);
      row.add(real, reference);
      whole.add(real, reference);
      error = std::max(error, std::fabs(real - reference));
      second = std::max(second, std::min(best, reference));
      best = std::max(best, reference);
    }
    ++out.rows;
    out.worst_row = std::min(out.worst_row, row.value());
    const auto index = std::ranges::max_element(wanted) - wanted.begin();
    if (std::ranges::max_element(ours) - ours.begin() != index) {
      ++out.moved;
      lead = std::max(lead, best - second);
    }
  }
  out.cosine = whole.value();
  const double unit = largest > 0 ? largest : 1;
  out.error = error / unit;
  out.lead = lead / unit;
  return out;
}

void print_table_head() {
  std::printf("%-37s %-25s %7s %5s %8s %8s %7s %5s %6s  %s\n", "case", "output", "tensors", "rows",
              "cosine", "worst", "error", "moved", "lead", "bounds");
}

void print_table_line(const std::string& golden_case, const std::string& output,
                      const Agreement& agreement, const Bound& bound) {
  const std::string left_out =
      agreement.left_out > 0 ? ", " + std::to_string(agreement.left_out) + " rows left out" : "";
  std::printf(
      "%-37s %-25s %7zu %5zu %8.5f %8.5f %6.2f%% %5zu %5.2f%%  %.3f %.3f %.0f%% %.0f%%%s%s\n",
      golden_case.c_str(), output.c_str(), agreement.tensors, agreement.rows, agreement.cosine,
      agreement.worst_row, 100 * agreement.error, agreement.moved, 100 * agreement.lead,
      bound.cosine, bound.worst_row, 100 * bound.error, 100 * bound.lead, left_out.c_str(),
      agreement.missed(bound).empty() ? "" : "  MISSED");
}

}  // namespace embert::test
