// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/model/run_options.hpp"

#include <CLI/CLI.hpp>

#include "embert/embert.h"
#include "embert/embert_host.h"
#include "targets/cli/tool_error.hpp"

namespace embert::cli {
void RunOptions::add_to(CLI::App& command) {
  command
      .add_option("--threads", threads,
                  "Threads, at most the processors that this process may use; 0: all of these")
      ->check(CLI::Range(0, 64))
      ->type_name("N")
      ->capture_default_str();
  add_isa_option(command, isa);
}

void add_isa_option(CLI::App& command, std::string& isa) {
  const std::vector<std::string> names = isa_choices();
  command
      .add_option(
          "--isa", isa,
          "The fastest instruction set whose kernels may run; auto: all that the machine has")
      ->check(CLI::IsMember(names))
      ->type_name("NAME")
      ->capture_default_str();
}

uint32_t allowed_threads(uint32_t threads) {
  if (threads == 1) return 1;
  embert_thread_pool* pool = embert_thread_pool_create(threads);
  const uint32_t allowed = embert_thread_pool_threads(pool);
  embert_thread_pool_destroy(pool);
  return allowed;
}

void add_value_list(CLI::App& command, const std::string& name, std::vector<uint32_t>& values,
                    ValueRange range, const std::string& description) {
  command.add_option(name, values, description)
      ->delimiter(',')
      ->check(CLI::Range(range.lowest, range.highest))
      ->type_name("N,N,...")
      ->capture_default_str();
}

void add_model_argument(CLI::App& command, std::string& path) {
  command.add_option("MODEL", path, "Model file, made with `embert convert`")
      ->required()
      ->type_name("");
}

}  // namespace embert::cli
