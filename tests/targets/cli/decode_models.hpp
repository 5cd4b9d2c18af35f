// SPDX-License-Identifier: Apache-2.0
// The models of the pipelines' golden files: the tool converts a base model and a task head, merged
// into a folder.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {

/// Returns whether the optional shared folder exists.
bool has_decode_models();

/// Reads reference/decode/<name>.json.
nlohmann::json read_decode_golden(const std::string& name);

/// Converts the base model with the head of a task ("token", "question", ...); returns the path.
std::string convert_decode_model(const ScratchFolder& scratch, const std::string& task);

}  // namespace embert::test
