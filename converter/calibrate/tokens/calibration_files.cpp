// SPDX-License-Identifier: Apache-2.0
#include "converter/calibrate/tokens/calibration_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "converter/convert_error.hpp"

namespace embert::convert {
namespace {

constexpr std::size_t kPathBytes = 400;  // of a path in a message

// Reads a whole text file.
std::string read_whole_file(const std::filesystem::path& path) {
  constexpr std::size_t kMostMegabytes = 256;
  const auto fail = [&](const std::string& what) {
    throw ConvertError(printable(path.string(), kPathBytes) + ": " + what);
  };
  // O_NONBLOCK: do not wait for the writer of a pipe, which is refused below.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
  const std::unique_ptr<const int, void (*)(const int*)> closer(&file,
                                                                [](const int* f) { ::close(*f); });
  struct stat info = {};
  if (::fstat(file, &info) != 0) fail(std::string("cannot be read: ") + std::strerror(errno));
  if (!S_ISREG(info.st_mode)) fail("is not a regular file");
  if (static_cast<std::uintmax_t>(info.st_size) > kMostMegabytes << 20) {
    fail("is larger than " + std::to_string(kMostMegabytes) + " MB; give fewer texts");
  }
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const ssize_t count = ::read(file, text.data() + bytes, text.size() - bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
    if (count == 0) break;
    bytes += static_cast<std::size_t>(count);
  }
  text.resize(bytes);
  return text;
}

// The indices of the texts that calibration takes of `texts`, in rising order.
std::vector<std::size_t> evenly_spaced(std::size_t texts) {
  const std::size_t count = std::min(texts, kMostCalibrationTexts);
  std::vector<std::size_t> indices(count);
  for (std::size_t i = 0; i < count; ++i) indices[i] = i * texts / count;
  return indices;
}

}  // namespace

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  const std::string text = read_whole_file(path);
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const bool carriage_return = end > start && text[end - 1] == '\r';
    lines.push_back(text.substr(start, end - start - (carriage_return ? 1 : 0)));
    start = end + 1;
  }
  return lines;
}

std::vector<std::string> read_filled_lines(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  for (const std::string& line : read_lines(path)) {
    constexpr const char* kBlanks = " \t\r\n";
    const std::size_t first = line.find_first_not_of(kBlanks);
    if (first == std::string::npos) continue;
    lines.push_back(line.substr(first, line.find_last_not_of(kBlanks) - first + 1));
  }
  if (lines.empty()) {
    throw ConvertError(printable(path.string(), kPathBytes) + ": no text; one a line is needed");
  }
  return lines;
}

std::vector<std::string> read_text_lines(const std::filesystem::path& path) {
  std::vector<std::string> lines = read_filled_lines(path);
  std::vector<std::string> texts;
  for (const std::size_t i : evenly_spaced(lines.size())) texts.push_back(std::move(lines[i]));
  return texts;
}

TokenBatch read_id_file(const std::filesystem::path& path, const StackConfig& config,
                        int max_tokens) {
  TokenBatch batch;
  const std::vector<std::string> lines = read_filled_lines(path);
  for (const std::size_t number : evenly_spaced(lines.size())) {
    const std::string& line = lines[number];
    const auto fail = [&](const std::string& what) {
      throw ConvertError(printable(path.string(), kPathBytes) + ": text " +
                         std::to_string(number + 1) + ": " + what);
    };
    int length = 0;
    const char* at = line.data();
    const char* const end = at + line.size();
    while (at < end) {
      std::int32_t id = 0;
      const auto [stop, error] = std::from_chars(at, end, id);
      if (error != std::errc() || (stop < end && *stop != ' ' && *stop != '\t')) {
        fail("expected token ids in decimal with blanks between, found " + printable(line, 40));
      }
      if (id < 0 || id >= config.vocab_size) {
        fail("token id " + std::to_string(id) + " is outside 0.." +
             std::to_string(config.vocab_size - 1));
      }
      if (length < max_tokens) {
        batch.ids.push_back(id);
        ++length;
      }
      at = std::find_if(stop, end, [](char c) { return c != ' ' && c != '\t'; });
    }
    batch.lengths.push_back(length);
  }
  return batch;
}

}  // namespace embert::convert
