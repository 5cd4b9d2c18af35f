// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "targets/cli/tool_error.hpp"

namespace embert::cli {

static constexpr size_t kFlushBytes = 1 << 16;

void Output::line(std::string_view text) {
  buffer_ += text;
  buffer_ += '\n';
  if (buffer_.size() >= kFlushBytes) flush();
}

void Output::json(const Json& value) {
  line(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

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

void note(const std::string& text) { std::fprintf(stderr, "embert: %s\n", text.c_str()); }

std::string one_line(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return result;
}

std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string grouped(unsigned long long value) {
  const std::string digits = std::to_string(value);
  std::string result;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) result += ',';
    result += digits[i];
  }
  return result;
}

}  // namespace embert::cli
