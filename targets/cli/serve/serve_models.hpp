// SPDX-License-Identifier: Apache-2.0
// The server is a program of its own, `embert-server`, because the libraries of HTTP would double
// the time in which the tool starts. It is the tool with serve_here.cpp in the place of
// start_server.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "targets/cli/model/run_options.hpp"
#include "targets/serve/limits.hpp"

namespace embert::cli {

struct ServeArguments {
  std::vector<std::string> models;
  uint16_t port = 8080;
  std::string bind, key_file;
  RunOptions run = {.threads = 0};
  uint32_t max_tokens = 0, timeout = 30;
  serve::Limits limits;
};

/// Answers requests until a signal ends it (embert-server), or starts embert-server with the same
/// arguments in this process's place (embert).
void serve_models(const ServeArguments& arguments);

}  // namespace embert::cli
