// SPDX-License-Identifier: Apache-2.0
#include "converter/files/temporary_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <string>
#include <utility>

#include "converter/files/folder_names.hpp"

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
  for (const std::string& name : folder_names(folder)) {
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) remove_abandoned(folder / name);
  }
}

std::mutex files_lock;
TemporaryFile* last_file = nullptr;  // of those that exist; each knows the one before it

}  // namespace

TemporaryFile::TemporaryFile(const std::filesystem::path& folder) {
  // A process uses no name twice. Where flock() fails, a sweep may remove a file that is in use.
  // Its rename_to() must then fail, and not find another output's bytes under its name.
  static std::atomic<unsigned> next_number = 0;
  sweep(folder);
  for (int tries = 0; tries < 100; ++tries) {
    std::filesystem::path name = folder / (std::string(kPrefix) + std::to_string(getpid()) + "-" +
                                           std::to_string(next_number++) + std::string(kSuffix));
    // From here on nothing may throw: the file would stay.
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno != EEXIST) return;
    if (file < 0) continue;
    // Between open() and flock() another program may sweep the file away, or hold it to do so.
    struct stat info = {};
    const bool is_swept = (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) ||
                          ::fstat(file, &info) != 0 || info.st_nlink == 0;
    if (!is_swept) {
      descriptor_ = file;
      const std::lock_guard lock(files_lock);
      name_ = std::move(name);
      before_ = last_file;
      last_file = this;
      return;
    }
    ::close(file);
  }
  errno = EEXIST;
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ < 0) return;
  const std::lock_guard lock(files_lock);
  if (!name_.empty()) ::unlink(name_.c_str());
  ::close(descriptor_);
  TemporaryFile** file = &last_file;
  while (*file != this) file = &(*file)->before_;
  *file = before_;
}

void TemporaryFile::remove_all() {
  const std::lock_guard lock(files_lock);
  for (const TemporaryFile* file = last_file; file != nullptr; file = file->before_) {
    if (!file->name_.empty()) ::unlink(file->name_.c_str());
  }
}

int TemporaryFile::sync() {
  if (::fsync(descriptor_) != 0) return errno;
  // Some file systems report an error only to close(). That of a copy leaves the lock.
  const int copy = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  return copy >= 0 && ::close(copy) == 0 ? 0 : errno;
}

int TemporaryFile::rename_to(const std::filesystem::path& path) {
  const std::lock_guard lock(files_lock);
  if (::rename(name_.c_str(), path.c_str()) != 0) return errno;
  name_.clear();
  return 0;
}

}  // namespace embert::convert
