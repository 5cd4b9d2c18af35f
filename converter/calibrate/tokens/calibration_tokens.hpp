// SPDX-License-Identifier: Apache-2.0
// Where calibration's token ids come from: texts through the runtime's tokenizer, or a file of ids.
// A model without either gets random ones (random_tokens.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "converter/model/model_config.hpp"
#include "converter/reference/float_model.hpp"

namespace embert::convert {

/// Calibration takes at most so many texts of a file, evenly spaced over it.
inline constexpr std::size_t kMostCalibrationTexts = 4096;

/// Lines of a text file as they are but for their line ends ("\n" or "\r\n"). Throws ConvertError
/// where it cannot be read, is not a regular file or is larger than 256 MB.
std::vector<std::string> read_lines(const std::filesystem::path& path);

/// Texts to calibrate on: lines without blanks at their ends and without empty ones, at most
/// kMostCalibrationTexts. Throws ConvertError where there are none, and as read_lines().
std::vector<std::string> read_text_lines(const std::filesystem::path& path);

/// Texts as ids of the tokenizer in `section`, each cut at `max_tokens`. Throws ConvertError.
TokenBatch tokenize_texts(const std::vector<std::uint8_t>& section, const StackConfig& config,
                          int max_tokens, std::span<const std::string_view> texts);

/// Long texts, of parts of `texts` one after another: some that fill `max_tokens`, none where that
/// is short. They show calibration the later positions.
std::vector<std::string> join_texts(std::span<const std::string_view> texts, int max_tokens);

/// One text a line, ids in decimal with blanks between, at most kMostCalibrationTexts texts. Throws
/// ConvertError that names the text.
TokenBatch read_id_file(const std::filesystem::path& path, const StackConfig& config,
                        int max_tokens);

/// Texts [first, first + step, ...) of `batch`, or all others.
TokenBatch every_nth(const TokenBatch& batch, std::size_t step, std::size_t first, bool others);

}  // namespace embert::convert
