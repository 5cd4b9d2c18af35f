// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/io/npy_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "converter/files/temporary_file.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/line_text.hpp"
#include "targets/hosted/vectors/pack_vector.hpp"

namespace embert::cli {
namespace {

/// Magic, version, length and text: room for any number of rows.
constexpr size_t kHeaderBytes = 128;

/// 0 or errno.
int write_all(int file, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

NpyFile::NpyFile(const std::string& path, embert_vector_format format, size_t row_bytes)
    : path_(path), format_(format), row_bytes_(row_bytes) {
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
  write_header();
}

NpyFile::~NpyFile() {
  if (file_ < 0) return;
  close(file_);
  unlink(temporary_.c_str());
}

void NpyFile::fail(const char* what, int error) const {
  throw WriteError(quoted_path(path_) + ": cannot " + what + ": " + std::strerror(error));
}

void NpyFile::write_header() {
  const bool is_float = format_ == EMBERT_VECTOR_FLOAT32;
  const std::string type = is_float ? "<f4" : is_signed(format_) ? "|i1" : "|u1";
  const size_t columns = is_float ? row_bytes_ / 4 : row_bytes_;
  std::string header("\x93NUMPY\x01\x00", 8);
  const size_t text_bytes = kHeaderBytes - header.size() - 2;
  header += static_cast<char>(text_bytes);
  header += '\0';
  header += "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + std::to_string(rows_) +
            ", " + std::to_string(columns) + "), }";
  header.resize(kHeaderBytes - 1, ' ');
  header += '\n';
  const auto* bytes = reinterpret_cast<const uint8_t*>(header.data());
  if (const int error = write_all(file_, {bytes, header.size()}); error != 0) fail("write", error);
}

void NpyFile::append(std::span<const uint8_t> rows) {
  if (const int error = write_all(file_, rows); error != 0) fail("write", error);
  rows_ += rows.size() / row_bytes_;
}

void NpyFile::finish() {
  if (lseek(file_, 0, SEEK_SET) != 0) fail("write", errno);
  write_header();
  if (fsync(file_) != 0) fail("write", errno);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail("replace", errno);
  close(file_);
  file_ = -1;
}

}  // namespace embert::cli
