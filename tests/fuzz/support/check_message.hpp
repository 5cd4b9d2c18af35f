// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace embert::fuzz {

/// The message of a refusal is one printable line.
void check_message(const std::string& line);

}  // namespace embert::fuzz
