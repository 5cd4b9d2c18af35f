// SPDX-License-Identifier: Apache-2.0
// The texts that calibration uses when the user gives none: data/calibration_text.txt, compiled in.
// Their topics and lengths are mixed on purpose: calibration on one topic doubles the error on
// others, and the largest errors are on phrases of three to eight tokens. data/README.md says where
// the texts come from. Every seventh text is held out for the converter's certificate.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace embert::convert {

/// UTF-8 texts, in the same order in every build.
std::span<const std::string_view> builtin_calibration_texts();
/// The held-out texts: never part of calibration.
std::span<const std::string_view> builtin_certificate_texts();

/// Share of the tokens that are `unknown_id`, 0 where there are no tokens. The special tokens at
/// both ends of a text do not count. `lengths` has the number of tokens of each text in `ids`.
double unknown_share(std::span<const std::int32_t> ids, std::span<const std::int32_t> lengths,
                     std::int32_t unknown_id);

/// From this share on, calibration text says little about the model: the user should give a file.
inline constexpr double kMostlyUnknownShare = 0.3;

}  // namespace embert::convert
