// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/io/new_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "converter/convert_error.hpp"
#include "converter/files/output_target.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::cli {

std::filesystem::path output_target(const std::filesystem::path& path) {
  try {
    return convert::output_target(path);
  } catch (const convert::ConvertError& error) {
    throw UsageError(error.what());
  }
}

NewFile::NewFile(const std::string& path) : path_(output_target(path)) {
  struct stat info = {};
  const bool exists = stat(path.c_str(), &info) == 0;
  const int stat_error = errno;
  if (exists && !S_ISREG(info.st_mode)) {
    throw UsageError(quoted_path(path) + ": cannot write: is not a regular file");
  }
  if (!exists && stat_error != ENOENT) {
    throw UsageError(quoted_path(path) + ": cannot write: " + std::strerror(stat_error));
  }
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  file_.emplace(folder.empty() ? "." : folder);
  if (file_->descriptor() < 0) {
    throw UsageError(quoted_path(path) + ": cannot write: " + std::strerror(errno));
  }
  if (exists) (void)!fchmod(file_->descriptor(), info.st_mode & 07777);
}

void NewFile::fail(const char* what, int error) const {
  throw WriteError(quoted_path(path_) + ": cannot " + what + ": " + std::strerror(error));
}

void NewFile::append(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_->descriptor(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void NewFile::overwrite_start(std::span<const uint8_t> bytes) {
  if (lseek(file_->descriptor(), 0, SEEK_SET) != 0) fail("write", errno);
  append(bytes);
}

void NewFile::put_in_place() {
  if (const int error = file_->sync(); error != 0) fail("write", error);
  if (const int error = file_->rename_to(path_); error != 0) fail("replace", error);
}

}  // namespace embert::cli
