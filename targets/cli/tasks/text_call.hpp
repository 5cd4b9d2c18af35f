// SPDX-License-Identifier: Apache-2.0
// The arguments and options that all subcommands share which run a model on texts.
#pragma once

#include <string>

#include "targets/cli/io/records.hpp"
#include "targets/cli/model/run_options.hpp"

namespace embert::cli {

struct TextCall {
  std::string model;  ///< path
  RecordInput input;
  bool json = false;
  RunOptions run;
};

/// Adds --function: softmax, sigmoid or none; empty: the model's own.
void add_function_option(CLI::App& command, std::string& function);

/// Adds MODEL, TEXT..., --jsonl, --json, --threads and --isa. json_keys: the keys of the results,
/// for --help.
void add_text_call(CLI::App& command, TextCall& call, const RecordForm& form,
                   const std::string& json_keys);

}  // namespace embert::cli
