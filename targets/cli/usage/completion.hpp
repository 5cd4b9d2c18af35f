// SPDX-License-Identifier: Apache-2.0
// Scripts that complete the tool's command line in a shell, made of the command line that the tool
// parses.
#pragma once

#include <array>
#include <string>

namespace CLI {
class App;
}

namespace embert::cli {

inline constexpr std::array<const char*, 3> kShells = {"bash", "zsh", "fish"};

// Each without the last line end.
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace embert::cli
