// SPDX-License-Identifier: Apache-2.0
// Options that several subcommands share, read from the command line.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "targets/cli/tool_error.hpp"
#include "targets/hosted/tasks/common/decoding_options.hpp"
#include "targets/hosted/tasks/common/text_windows.hpp"
#include "targets/hosted/vectors/text_vectors.hpp"

namespace embert::cli {

/// Checks that a number is from 0 to 1.
CLI::Validator share_of_one();

/// Adds --function: softmax, sigmoid or none; empty: the model's own.
void add_function_option(CLI::App& command, std::string& function);
/// Adds --reject-label, the label of texts that a threshold rejects.
void add_reject_label_option(CLI::App& command, std::string& label);
/// Adds --window and --stride.
void add_window_options(CLI::App& command, WindowOptions& options);
/// Adds --max-new-tokens, --beams, --sample and its options.
void add_decoding_options(CLI::App& command, DecodingOptions& options);
/// Adds --pooling, --normalize, --dimensions, --format and --prompt.
void add_vector_options(CLI::App& command, VectorOptions& options);

}  // namespace embert::cli
