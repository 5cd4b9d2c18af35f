// SPDX-License-Identifier: Apache-2.0
// The models of the pipelines' golden files: a base and a head merged into a folder, converted by
// the tool.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {

/// Whether the shared folder is there.
bool has_decode_models();

/// reference/decode/<name>.json
nlohmann::json read_decode_golden(const std::string& name);

/// Converts base and head of a task ("token", "question", ...); returns the model's path.
std::string convert_decode_model(const ScratchFolder& scratch, const std::string& task);

}  // namespace embert::test
