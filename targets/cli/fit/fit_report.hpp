// SPDX-License-Identifier: Apache-2.0
// The results of `embert fit` as lines for people and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "targets/cli/fit/board_table.hpp"
#include "targets/cli/fit/model_fit.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::cli {

struct FitQuestion {
  std::string name;  ///< of the model's file or folder
  FitModel model;
  const Board* board;  ///< null: any of the bare-metal kernel sets
  FitLimits limits;
  std::optional<double> conversion_seconds;  ///< of a folder, which was converted for this
};

struct FitAnswer {
  const KernelSet* kernels;
  MemoryNeed need;
  std::optional<double> instructions;  ///< nothing: not estimated for this kind of model
  std::optional<double> seconds;       ///< without a board nothing
  bool fits;
};

/// One answer for the board, or one for each set of bare-metal kernels.
std::vector<FitAnswer> answer_fit(const FitQuestion& question);

void write_fit(const FitQuestion& question, const std::vector<FitAnswer>& answers);
Json fit_json(const FitQuestion& question, const std::vector<FitAnswer>& answers);

}  // namespace embert::cli
