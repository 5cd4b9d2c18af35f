// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/support/check_message.hpp"

#include <algorithm>
#include <string>

#include "converter/convert_error.hpp"
#include "tests/fuzz/support/require.hpp"

namespace embert::fuzz {

void check_message(const std::string& line) {
  require(!line.empty() && convert::is_utf8(line), "a message is UTF-8");
  require(std::ranges::none_of(line, [](char c) { return c >= 0 && c < ' '; }),
          "a message is one line");
  require(line.size() < 2000, "a message is short");
}

}  // namespace embert::fuzz
