// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "targets/cli/serve/serve_models.hpp"
#include "targets/cli/tool_error.hpp"

namespace embert::cli {
namespace {

/// This process's arguments, as the kernel keeps them: each ends with a zero byte.
std::string own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

void serve_models(const ServeArguments&) {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    throw InternalError("/proc/self/exe: " + error.message() +
                        "; the tool cannot find embert-server, which lies beside it");
  }
  const std::string server = own.parent_path() / "embert-server";
  std::string arguments = own_arguments();
  std::vector<char*> argv;
  for (size_t at = 0; at < arguments.size(); at = arguments.find('\0', at) + 1) {
    argv.push_back(&arguments[at]);
  }
  argv.push_back(nullptr);
  execv(server.c_str(), argv.data());
  throw InternalError(server + ": " + std::strerror(errno) +
                      "; the server is a program beside the tool: install both");
}

}  // namespace embert::cli
