// SPDX-License-Identifier: Apache-2.0
// The text that calibration uses when the user gives none: data/calibration_text.txt, compiled in.
// It is mixed in domain and length on purpose: a model calibrated on one domain costs twice the
// error on others, and the worst texts are phrases of three to eight tokens. data/README.md says
// where the texts come from. Every seventh is kept back for the converter's certificate.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace embert::convert {

/// UTF-8, one text each, the same order in every build.
std::span<const std::string_view> builtin_calibration_texts();
/// Never part of calibration.
std::span<const std::string_view> builtin_certificate_texts();

/// How many of the tokens are `unknown_id`, special tokens at both ends of a text not counted;
/// `lengths` has the tokens of each text in `ids`. 0 where there is no token.
double unknown_share(std::span<const std::int32_t> ids, std::span<const std::int32_t> lengths,
                     std::int32_t unknown_id);

/// From this share on calibration text says little about the model: ask for a file.
inline constexpr double kMostlyUnknownShare = 0.3;

}  // namespace embert::convert
