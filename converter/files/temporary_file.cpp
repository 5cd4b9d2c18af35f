// SPDX-License-Identifier: Apache-2.0
#include "converter/files/temporary_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace embert::convert {
namespace {

constexpr std::string_view kPrefix = ".embert-", kSuffix = ".tmp";

/// Removes the file if it is a regular one that no program locks.
void remove_abandoned(const std::filesystem::path& name) {
  const int file = ::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  struct stat info = {};
  if (::fstat(file, &info) == 0 && S_ISREG(info.st_mode) && ::flock(file, LOCK_EX | LOCK_NB) == 0) {
    ::unlink(name.c_str());
  }
  ::close(file);
}

void sweep(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) remove_abandoned(entry->path());
  }
}

}  // namespace

TemporaryFile open_temporary(const std::filesystem::path& folder) {
  sweep(folder);
  for (int number = 0; number < 100; ++number) {
    const std::filesystem::path name =
        folder / (std::string(kPrefix) + std::to_string(getpid()) + "-" + std::to_string(number) +
                  std::string(kSuffix));
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno != EEXIST) return {.descriptor = -1, .name = {}};
    if (file < 0) continue;
    // Between open() and flock() another program may sweep the file away, or hold it to do so.
    struct stat info = {};
    const bool is_swept = (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) ||
                          ::fstat(file, &info) != 0 || info.st_nlink == 0;
    if (!is_swept) return {.descriptor = file, .name = name};
    ::close(file);
  }
  errno = EEXIST;
  return {.descriptor = -1, .name = {}};
}

}  // namespace embert::convert
