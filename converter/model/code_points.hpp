// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace embert::convert {

/// The characters of UTF-8. Bytes that belong to none are left out.
std::vector<std::uint32_t> code_points(std::string_view text);

}  // namespace embert::convert
