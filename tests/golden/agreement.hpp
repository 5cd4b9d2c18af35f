// SPDX-License-Identifier: Apache-2.0
// The distance of integer results from a float32 reference, and its bounds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/golden/golden_outputs.hpp"

namespace embert::test {

/// The bounds that each tensor of an output must keep. Errors and leads are fractions of the
/// tensor's largest magnitude. The lead of a row is the gap between its largest value and the next.
struct Bound {
  double cosine;     ///< at least, over all values
  double worst_row;  ///< at least, of each row
  double error;      ///< at most, of each value
  double lead;       ///< rows with a larger lead must have their largest value at the same index
};

/// The bound of a case's output; "hidden_states" stands for hidden_states.0 and so on. Throws
/// where there is none.
Bound bound_of(std::string_view golden_case, std::string_view output);

/// The measured values of one tensor, or the worst of several.
struct Agreement {
  std::size_t tensors = 0, rows = 0;
  std::size_t left_out = 0;  ///< rows that were not computed
  double cosine = 1, worst_row = 1, error = 0;
  /// Rows whose largest value is at another index, and the largest lead of these rows in the
  /// reference.
  std::size_t moved = 0;
  double lead = 0;

  void add(const Agreement& other);
  /// The bound that is missed, as text; empty if none.
  std::string missed(const Bound& bound) const;
};

/// A row is the last dimension.
Agreement measure(const std::vector<float>& expected, const GoldenTensor& found);

void print_table_head();
void print_table_line(const std::string& golden_case, const std::string& output,
                      const Agreement& agreement, const Bound& bound);

}  // namespace embert::test
