// SPDX-License-Identifier: Apache-2.0
// How far integers are from a float32 reference, and how far they may be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/golden/golden_outputs.hpp"

namespace embert::test {

/// What an output must reach in each of its tensors. Errors and leads are in parts of the tensor's
/// largest magnitude.
struct Bound {
  double cosine;     ///< at least, over all values
  double worst_row;  ///< at least, of each row
  double error;      ///< at most, of each value
  double lead;       ///< of a row's largest value, above which ours must stand in the same place
};

/// The bound of a case's output, "hidden_states" for hidden_states.0 and so on. Throws where there
/// is none.
Bound bound_of(std::string_view golden_case, std::string_view output);

/// Figures of one tensor, or the worst of several.
struct Agreement {
  std::size_t tensors = 0, rows = 0;
  std::size_t left_out = 0;  ///< rows that were not computed
  double cosine = 1, worst_row = 1, error = 0;
  /// Rows whose largest value stands elsewhere, and the widest lead that it has in the reference.
  std::size_t moved = 0;
  double lead = 0;

  void add(const Agreement& other);
  /// What is missed, or nothing.
  std::string missed(const Bound& bound) const;
};

/// Rows are those of the last extent.
Agreement measure(const std::vector<float>& expected, const GoldenTensor& found);

void print_table_head();
void print_table_line(const std::string& golden_case, const std::string& output,
                      const Agreement& agreement, const Bound& bound);

}  // namespace embert::test
