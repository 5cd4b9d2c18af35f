// SPDX-License-Identifier: Apache-2.0
// Token ids for calibration, from texts through the runtime's tokenizer or from a file of ids. A
// model that has neither gets random ids (random_tokens.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "converter/model/model_config.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/reference/float_model.hpp"

namespace embert::convert {

/// Calibration takes at most this many texts of a file, evenly spaced over it.
inline constexpr std::size_t kMostCalibrationTexts = 4096;

/// Lines of a text file without their line ends ("\n" or "\r\n"). Throws ConvertError where the
/// file cannot be read, is not a regular file or is larger than 256 MB.
std::vector<std::string> read_lines(const std::filesystem::path& path);

/// Texts to calibrate on: the lines that are not blank, without blanks at their ends, at most
/// kMostCalibrationTexts. Throws ConvertError where there are none, and as read_lines().
std::vector<std::string> read_text_lines(const std::filesystem::path& path);

/// Tokenizes texts with the tokenizer in `section` (TOKENIZER_FORMAT.md), each cut at `max_tokens`.
/// Throws ConvertError.
TokenBatch tokenize_texts(const std::vector<std::uint8_t>& section, const StackConfig& config,
                          int max_tokens, std::span<const std::string_view> texts);

/// Six long texts that fill `max_tokens`, joined from `texts`, so that calibration sees the later
/// positions too. None where `max_tokens` is at most 128, which single texts reach anyway.
std::vector<std::string> join_texts(std::span<const std::string_view> texts, int max_tokens);

/// One text a line: ids in decimal with blanks between. Takes at most kMostCalibrationTexts texts,
/// each cut at `max_tokens`. Throws ConvertError that names the text.
TokenBatch read_id_file(const std::filesystem::path& path, const StackConfig& config,
                        int max_tokens);

/// A batch in two parts: of every `n` texts the last is held out.
struct SplitBatch {
  TokenBatch kept, held_out;
};
SplitBatch hold_out_every(std::size_t n, const TokenBatch& batch);

}  // namespace embert::convert
