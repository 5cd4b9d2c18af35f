// SPDX-License-Identifier: Apache-2.0
// --threads and --isa, for the subcommands that run a model.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace embert::cli {

struct RunOptions {
  uint32_t threads = 1;
  std::string isa = "auto";

  void add_to(CLI::App& command);
};

void add_isa_option(CLI::App& command, std::string& isa);

/// The kernels for a name: that cluster and those below it that this machine has. Throws UsageError
/// for a name that is none, or one that this machine or build lacks.
uint32_t isa_mask_of(const std::string& name);

/// The number of threads that --threads stands for here: 0 is all processors, and there are never
/// more threads than processors.
uint32_t allowed_threads(uint32_t threads);

/// "1,2,4" on the command line, each in lowest..highest.
void add_number_list(CLI::App& command, const std::string& name, std::vector<uint32_t>& values,
                     uint32_t lowest, uint32_t highest, const std::string& description);

/// The positional model file.
void add_model_argument(CLI::App& command, std::string& path);

}  // namespace embert::cli
