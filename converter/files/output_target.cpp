// SPDX-License-Identifier: Apache-2.0
#include "converter/files/output_target.hpp"

#include <cerrno>
#include <cstring>

#include "converter/convert_error.hpp"

namespace embert::convert {

void output_error(const std::filesystem::path& path, const char* what, int error) {
  throw ConvertError(printable(path.string(), 400) + ": cannot " + what + ": " +
                     std::strerror(error));
}

std::filesystem::path output_target(const std::filesystem::path& path) {
  constexpr int kMostLinks = 40;  // as Linux follows
  std::filesystem::path real = path;
  std::error_code error;
  // One by one: weakly_canonical() stops at a link whose target does not exist.
  for (int links = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(real, error));
       ++links) {
    if (links == kMostLinks) output_error(path, "write", ELOOP);
    const std::filesystem::path target = std::filesystem::read_symlink(real, error);
    if (error) output_error(path, "write", error.value());
    real = real.parent_path() / target;
  }
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(real, error);
  return error ? real : canonical;
}

}  // namespace embert::convert
