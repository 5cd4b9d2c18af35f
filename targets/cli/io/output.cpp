// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/io/output.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "targets/cli/tool_error.hpp"
#include "targets/cli/usage/command_line.hpp"

namespace embert::cli {
namespace {

constexpr size_t kFlushBytes = 1 << 16;  // the buffer is written beyond this size

void write_to_stdout(std::string_view rest) {
  while (!rest.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EPIPE) throw OutputClosed();
      throw InternalError(std::string("cannot write to stdout: ") + std::strerror(errno));
    }
    rest.remove_prefix(static_cast<size_t>(written));
  }
}

/// Throws UsageError if another argument of the call names the file.
void check_is_no_input(const CLI::App& command, const std::string& path) {
  for (const CLI::Option* option : command.get_options()) {
    const bool is_text = option->get_name() == kTextArguments;
    if (is_text || option->check_lname("output")) continue;
    for (const std::string& value : option->results()) {
      std::error_code error;
      if (!std::filesystem::equivalent(without_mark(value), path, error) || error) continue;
      throw UsageError("--output " + quoted_path(path) + ": the call reads this file as " +
                       option->get_name() + "; give another one");
    }
  }
}

}  // namespace

void Output::open(const std::string& path) {
  if (path != "-") file_.emplace(path);
}

void Output::line(std::string_view text) {
  buffer_ += text;
  buffer_ += '\n';
  if (buffer_.size() >= kFlushBytes) flush();
}

void Output::json(const Json& value) { line(json_line(value)); }

void Output::flush() {
  const std::string lines = std::move(buffer_);
  buffer_.clear();
  if (!file_) return write_to_stdout(lines);
  file_->append({reinterpret_cast<const uint8_t*>(lines.data()), lines.size()});
}

void Output::finish() {
  flush();
  if (file_) file_->put_in_place();
}

bool Output::is_on_terminal() const { return !file_ && isatty(STDOUT_FILENO) == 1; }

Output& output() {
  static Output instance;
  return instance;
}

void add_output_option(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "-o,--output",
          [&command](const std::string& path) {
            check_is_no_input(command, path);
            output().open(path);
          },
          "Write the results into this file, whole or not at all; -: stdout")
      ->type_name("FILE");
}

}  // namespace embert::cli
