// SPDX-License-Identifier: Apache-2.0
#include "converter/export/replace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <optional>
#include <string>

#include "converter/files/output_target.hpp"
#include "converter/files/temporary_file.hpp"

namespace embert::convert {
namespace {

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

// 0 or errno.
int write_all(int file, std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), std::min(bytes.size(), kPiece));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

// The new bytes of an output, which wait in a temporary file. A device has none and gets them at
// once.
class NewBytes {
 public:
  explicit NewBytes(const OutputFile& output) : output_(output) {
    check_output_path(output_.path);
    real_ = output_target(output_.path);
    struct stat info = {};
    const bool exists = ::stat(real_.c_str(), &info) == 0;
    if (exists && !S_ISREG(info.st_mode)) {
      write_device();
      return;
    }
    file_.emplace(folder_of(real_));
    if (file_->descriptor() < 0) fail("write", errno);
    if (exists) static_cast<void>(::fchmod(file_->descriptor(), info.st_mode & 07777));
    const int error = write_all(file_->descriptor(), output_.bytes);
    if (error != 0) fail("write", error);
  }

  void sync() {
    const int error = file_ ? file_->sync() : 0;
    if (error != 0) fail("write", error);
  }

  void put_in_place() {
    if (!file_) return;
    if (const int error = file_->rename_to(real_); error != 0) fail("replace", error);
    // The new name should be on the disk, too. Not every file system can sync a directory, so
    // errors are ignored.
    const int folder = ::open(folder_of(real_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
      static_cast<void>(::fsync(folder));
      ::close(folder);
    }
  }

 private:
  void write_device() {
    const int device = ::open(real_.c_str(), O_WRONLY | O_CLOEXEC);
    if (device < 0) fail("write", errno);
    const int error = write_all(device, output_.bytes);
    ::close(device);
    if (error != 0) fail("write", error);
  }
  [[noreturn]] void fail(const char* what, int error) const {
    output_error(output_.path, what, error);
  }

  const OutputFile& output_;
  std::filesystem::path real_;
  std::optional<TemporaryFile> file_;
};

}  // namespace

void check_output_path(const std::filesystem::path& path) {
  const std::filesystem::path real = output_target(path);
  struct stat info = {};
  // The path itself: /dev/stdout leads to a pipe that has no other name.
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) output_error(path, "write", errno);
  if (path.filename().empty() || (exists && S_ISDIR(info.st_mode)))
    output_error(path, "write", EISDIR);
  if (exists && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode))) {
    throw ConvertError(printable(path.string(), 400) + ": cannot write: is a pipe or a socket");
  }
  if (exists && !S_ISREG(info.st_mode)) return;
  const std::filesystem::path folder = folder_of(real);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) output_error(path, "write", errno);
}

void replace_files(std::span<const OutputFile> files) {
  std::list<NewBytes> written;  // a temporary file does not move
  for (const OutputFile& file : files) written.emplace_back(file);
  for (NewBytes& file : written) file.sync();
  for (NewBytes& file : written) file.put_in_place();
}

void replace_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  const OutputFile file{path, bytes};
  replace_files({&file, 1});
}

}  // namespace embert::convert
