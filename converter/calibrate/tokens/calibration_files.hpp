// SPDX-License-Identifier: Apache-2.0
// Reads the files that a user can give to calibrate on: texts, or token ids.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "converter/model/model_config.hpp"
#include "converter/model/token_batch.hpp"

namespace embert::convert {

/// Calibration takes at most this many texts of a file, evenly spaced over it.
inline constexpr std::size_t kMostCalibrationTexts = 4096;

/// Lines of a text file without their line ends ("\n" or "\r\n"). Throws ConvertError where the
/// file cannot be read, is not a regular file or has more than kMostTextBytes (read_file.hpp).
std::vector<std::string> read_lines(const std::filesystem::path& path);

/// The lines that are not blank, without blanks at their ends. Throws ConvertError where there are
/// none, and as read_lines().
std::vector<std::string> read_filled_lines(const std::filesystem::path& path);

/// Texts to calibrate on: at most kMostCalibrationTexts of read_filled_lines().
std::vector<std::string> read_text_lines(const std::filesystem::path& path);

/// One text a line: ids in decimal with blanks between. Takes at most kMostCalibrationTexts texts,
/// each cut at `max_tokens`. Throws ConvertError that names the text.
TokenBatch read_id_file(const std::filesystem::path& path, const StackConfig& config,
                        int max_tokens);

}  // namespace embert::convert
