// SPDX-License-Identifier: Apache-2.0
// MODEL, --threads and --isa: the options of the subcommands that run a model.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "targets/cli/tool_error.hpp"
#include "targets/hosted/model/isa_choice.hpp"

namespace embert::cli {

struct RunOptions {
  uint32_t threads = 1;
  std::string isa = "auto";

  void add_to(CLI::App& command);
};

void add_isa_option(CLI::App& command, std::string& isa);

/// Returns the number of threads for --threads: at most as many as there are processors; 0 stands
/// for all of them.
uint32_t allowed_threads(uint32_t threads);

struct ValueRange {
  uint32_t lowest, highest;
};

/// Adds an option that takes a list such as "1,2,4", each value in the range.
void add_value_list(CLI::App& command, const std::string& name, std::vector<uint32_t>& values,
                    ValueRange range, const std::string& description);

/// Adds the positional model file.
void add_model_argument(CLI::App& command, std::string& path);

}  // namespace embert::cli
