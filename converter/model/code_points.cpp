// SPDX-License-Identifier: Apache-2.0
#include "converter/model/code_points.hpp"

#include <algorithm>
#include <cstddef>

#include "converter/convert_error.hpp"

namespace embert::convert {

std::vector<std::uint32_t> code_points(std::string_view text) {
  std::vector<std::uint32_t> out;
  while (!text.empty()) {
    const std::size_t bytes = utf8_length(text);
    if (bytes > 0) {
      const auto lead = static_cast<unsigned char>(text[0]);
      std::uint32_t code_point = bytes == 1 ? lead : lead & (0x7Fu >> bytes);
      for (std::size_t i = 1; i < bytes; ++i) {
        code_point = code_point << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
      }
      out.push_back(code_point);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return out;
}

}  // namespace embert::convert
