// SPDX-License-Identifier: Apache-2.0
// The manual page embert(1), made of the command line that the tool parses.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace embert::cli {

/// The page in roff with the macros of man(7); without the last line end.
std::string manual_page(const CLI::App& app);

}  // namespace embert::cli
