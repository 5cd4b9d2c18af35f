// SPDX-License-Identifier: Apache-2.0
#include "converter/files/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace embert::convert {

static constexpr std::size_t kBeginning = 512;
/// How a pointer file begins (github.com/git-lfs/git-lfs, docs/spec.md).
static constexpr std::string_view kLfsPointer = "version https://git-lfs.github.com/spec/";

OpenFile::OpenFile(const std::filesystem::path& path, std::string name, std::uint64_t max_bytes)
    : name_(std::move(name)),
      // O_NONBLOCK: open() does not wait for the writer of a pipe, which is refused below.
      descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_ < 0) {
    throw ConvertError(name_ + ": cannot be opened: " + std::strerror(errno));
  }
  try {
    struct stat info = {};
    if (::fstat(descriptor_, &info) != 0) {
      throw ConvertError(name_ + ": cannot be read: " + std::strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) throw ConvertError(name_ + ": is not a regular file");
    bytes_ = static_cast<std::uint64_t>(info.st_size);
    if (bytes_ > max_bytes) {
      throw ConvertError(name_ + ": " + std::to_string(bytes_) + " bytes; at most " +
                         std::to_string(max_bytes) + " are read");
    }
    beginning_.resize(kBeginning);
    const ssize_t count = ::pread(descriptor_, beginning_.data(), beginning_.size(), 0);
    if (count < 0) throw ConvertError(name_ + ": cannot be read: " + std::strerror(errno));
    beginning_.resize(static_cast<std::size_t>(count));
    if (beginning_.starts_with(kLfsPointer)) {
      throw ConvertError(name_ +
                         ": is a Git LFS pointer, not the file itself; run `git lfs pull` in its "
                         "folder");
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

OpenFile::~OpenFile() { ::close(descriptor_); }

void OpenFile::read_at(std::uint64_t offset, std::span<std::uint8_t> to) const {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t count =
        ::pread(descriptor_, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw ConvertError(name_ + ": cannot be read: " + std::strerror(errno));
    if (count == 0) throw ConvertError(name_ + ": became shorter while it was read; try again");
    done += static_cast<std::size_t>(count);
  }
}

std::string read_file(const std::filesystem::path& path, const std::string& name,
                      std::uint64_t max_bytes) {
  const OpenFile file(path, name, max_bytes);
  std::string text(static_cast<std::size_t>(file.bytes()), '\0');
  file.read({reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
  return text;
}

std::vector<std::string> split_lines(std::string_view text, const std::string& name) {
  if (std::count(text.begin(), text.end(), '\n') > kMostLines) {
    throw ConvertError(name + ": has more than " + std::to_string(kMostLines) +
                       " lines, give fewer");
  }
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const bool carriage_return = end > 0 && text[end - 1] == '\r';
    lines.emplace_back(text.substr(0, end - (carriage_return ? 1 : 0)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace embert::convert
