// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/io/texts.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "targets/cli/io/output.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/cli/usage/command_line.hpp"

namespace embert::cli {
namespace {

constexpr size_t kReadBytes = 1 << 16;

bool input_is_waiting() {
  pollfd file = {STDIN_FILENO, POLLIN, 0};
  return poll(&file, 1, 0) > 0;
}

}  // namespace

void add_text_arguments(CLI::App& command, std::vector<std::string>& texts,
                        const std::string& description) {
  // A callback gets the arguments unchanged; CLI11's conversion to a vector drops "{}".
  const CLI::callback_t take = [&texts](const CLI::results_t& arguments) {
    for (const std::string& argument : arguments) {
      // A marked "-" came behind "--".
      if (argument == "-" && arguments.size() > 1) {
        throw UsageError(
            "\"-\" stands for the lines of stdin: give it alone, or leave it out; "
            "behind -- it is a text");
      }
      if (argument != "-") texts.push_back(without_mark(argument));
    }
    return true;
  };
  command.add_option(kTextArguments, take, description)
      ->expected(0, CLI::detail::expected_max_vector_size)
      ->allow_extra_args()
      ->type_name("");
}

void add_line_limit(CLI::App& command, size_t& max_line_bytes) {
  command.add_option("--max-line-bytes", max_line_bytes, "Longest line of stdin that is read")
      ->check(CLI::Range(1, 1 << 30))
      ->type_name("N")
      ->capture_default_str();
}

TextSource::TextSource(std::vector<std::string> arguments, size_t max_line_bytes)
    : arguments_(std::move(arguments)),
      from_stdin_(arguments_.empty()),
      max_line_bytes_(max_line_bytes) {}

std::vector<std::string> TextSource::next(size_t most) {
  std::vector<std::string> texts;
  if (!from_stdin_) {
    while (texts.size() < most && next_argument_ < arguments_.size()) {
      texts.push_back(arguments_[next_argument_++]);
    }
    return texts;
  }
  std::string line;
  while (texts.size() < most) {
    if (is_line_too_long()) {
      if (!texts.empty()) break;
      throw InputError("stdin line " + std::to_string(lines_ + 1) + ": longer than " +
                       std::to_string(max_line_bytes_) + " bytes (--max-line-bytes)");
    }
    if (take_line(line)) {
      texts.push_back(std::move(line));
    } else if (at_end_) {
      break;
    } else {
      if (texts.empty()) {
        output().flush();  // shows the answers so far before it waits
      } else if (!input_is_waiting()) {
        break;
      }
      at_end_ = !read_more();
    }
  }
  return texts;
}

std::optional<double> TextSource::share_read() const {
  if (!from_stdin_) {
    return static_cast<double>(next_argument_) / static_cast<double>(arguments_.size());
  }
  struct stat info = {};
  const bool has_size = fstat(STDIN_FILENO, &info) == 0 && S_ISREG(info.st_mode);
  if (!has_size || info.st_size <= 0) return {};
  const size_t returned = read_bytes_ - (buffer_.size() - start_);
  return std::min(1.0, static_cast<double>(returned) / static_cast<double>(info.st_size));
}

bool TextSource::is_line_too_long() const {
  return std::min(buffer_.find('\n', scanned_), buffer_.size()) - start_ > max_line_bytes_;
}

bool TextSource::take_line(std::string& line) {
  const size_t end = buffer_.find('\n', scanned_);
  if (end == std::string::npos && !(at_end_ && start_ < buffer_.size())) {
    scanned_ = buffer_.size();
    return false;
  }
  const size_t stop = end == std::string::npos ? buffer_.size() : end;
  line.assign(buffer_, start_, stop - start_);
  if (!line.empty() && line.back() == '\r') line.pop_back();
  start_ = scanned_ = end == std::string::npos ? stop : stop + 1;
  ++lines_;
  return true;
}

bool TextSource::read_more() {
  buffer_.erase(0, start_);
  scanned_ -= start_;
  start_ = 0;
  const size_t size = buffer_.size();
  buffer_.resize(size + kReadBytes);
  ssize_t count = 0;
  do {
    count = ::read(STDIN_FILENO, buffer_.data() + size, kReadBytes);
  } while (count < 0 && errno == EINTR);
  const int error = errno;
  const size_t added = count > 0 ? static_cast<size_t>(count) : 0;
  buffer_.resize(size + added);
  read_bytes_ += added;
  if (count < 0) throw InputError(std::string("stdin cannot be read: ") + std::strerror(error));
  return count > 0;
}

}  // namespace embert::cli
