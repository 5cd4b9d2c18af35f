// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/io/output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "targets/cli/tool_error.hpp"
#include "targets/cli/usage/command_line.hpp"
#include "targets/hosted/convert/converter_input.hpp"

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

bool is_stdin(const std::filesystem::path& file) {
  struct stat read = {}, written = {};
  return fstat(STDIN_FILENO, &read) == 0 && S_ISREG(read.st_mode) &&
         stat(file.c_str(), &written) == 0 && read.st_dev == written.st_dev &&
         read.st_ino == written.st_ino;
}

}  // namespace

void check_is_no_input(const CLI::App& command, const std::string& option,
                       const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty()) throw UsageError("--" + option + " \"\": expected the name of a file");
  std::error_code error;
  // The file that is written: "x/../m.emb" is m.emb, whether there is x or not.
  const fs::path target = output_target(path);
  if (is_stdin(target)) {
    throw UsageError("--" + option + " " + quoted_path(path) +
                     ": the call reads this file as stdin; give another one");
  }
  for (const CLI::Option* other : command.get_options()) {
    const bool is_text = other->get_name() == kTextArguments;
    if (is_text || other->check_lname(option)) continue;
    const bool is_output = other->check_lname("output") || other->check_lname("report");
    for (const std::string& value : other->results()) {
      const fs::path named = without_mark(value);
      const bool is_same =
          fs::equivalent(named, target, error) || (is_output && output_target(named) == target);
      const bool is_inside =
          !is_output && fs::is_directory(named, error) && hosted::is_folder_input(target, named);
      if (!is_same && !is_inside) continue;
      throw UsageError("--" + option + " " + quoted_path(path) + ": " +
                       (is_inside   ? "is a file of the model folder, which the call reads"
                        : is_output ? "the call writes this file as " + other->get_name()
                                    : "the call reads this file as " + other->get_name()) +
                       "; give another one");
    }
  }
}

void Output::open(const std::string& path) {
  if (path != "-") file_.emplace(path);
}

void Output::text(std::string_view lines) {
  buffer_ += lines;
  if (buffer_.size() >= kFlushBytes) flush();
}

void Output::line(std::string_view text) {
  buffer_ += text;
  this->text("\n");
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
  file_.reset();
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
            check_is_no_input(command, "output", path);
            output().open(path);
          },
          "Write the results into this file, whole or not at all; -: stdout")
      ->type_name("FILE");
}

}  // namespace embert::cli
