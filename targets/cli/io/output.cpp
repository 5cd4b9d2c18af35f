// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/io/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "targets/cli/tool_error.hpp"

namespace embert::cli {

static constexpr size_t kFlushBytes = 1 << 16;  // the buffer is written beyond this size

void Output::line(std::string_view text) {
  buffer_ += text;
  buffer_ += '\n';
  if (buffer_.size() >= kFlushBytes) flush();
}

void Output::json(const Json& value) { line(json_line(value)); }

void Output::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      const int error = errno;
      buffer_.clear();
      if (error == EPIPE) throw OutputClosed();
      throw InternalError(std::string("cannot write to stdout: ") + std::strerror(error));
    }
    rest.remove_prefix(static_cast<size_t>(written));
  }
  buffer_.clear();
}

Output& output() {
  static Output instance;
  return instance;
}

void note(const std::string& text) { std::fprintf(stderr, "embert: %s\n", one_line(text).c_str()); }

}  // namespace embert::cli
