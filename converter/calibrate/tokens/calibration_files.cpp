// SPDX-License-Identifier: Apache-2.0
#include "converter/calibrate/tokens/calibration_files.hpp"

#include <algorithm>
#include <charconv>

#include "converter/convert_error.hpp"
#include "converter/files/read_file.hpp"

namespace embert::convert {
namespace {

constexpr std::size_t kPathBytes = 400;  // of a path in a message

// The indices of the texts that calibration takes of `texts`, in rising order.
std::vector<std::size_t> evenly_spaced(std::size_t texts) {
  const std::size_t count = std::min(texts, kMostCalibrationTexts);
  std::vector<std::size_t> indices(count);
  for (std::size_t i = 0; i < count; ++i) indices[i] = i * texts / count;
  return indices;
}

}  // namespace

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  const std::string name = printable(path.string(), kPathBytes);
  return split_lines(read_file(path, name, kMostTextBytes), name);
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
