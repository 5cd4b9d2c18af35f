// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/io/new_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "converter/files/temporary_file.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::cli {

NewFile::NewFile(const std::string& path) : path_(path) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is then an error of write()
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  if (!error) path_ = real.string();
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
  const convert::TemporaryFile made = convert::open_temporary(folder.empty() ? "." : folder);
  if (made.descriptor < 0) {
    throw UsageError(quoted_path(path) + ": cannot write: " + std::strerror(errno));
  }
  file_ = made.descriptor;
  temporary_ = made.name.string();
  if (exists) (void)!fchmod(file_, info.st_mode & 07777);
}

NewFile::~NewFile() {
  if (file_ < 0) return;
  close(file_);
  unlink(temporary_.c_str());
}

void NewFile::fail(const char* what, int error) const {
  throw WriteError(quoted_path(path_) + ": cannot " + what + ": " + std::strerror(error));
}

void NewFile::append(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void NewFile::overwrite_start(std::span<const uint8_t> bytes) {
  if (lseek(file_, 0, SEEK_SET) != 0) fail("write", errno);
  append(bytes);
}

void NewFile::put_in_place() {
  if (fsync(file_) != 0) fail("write", errno);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail("replace", errno);
  close(file_);
  file_ = -1;
}

}  // namespace embert::cli
